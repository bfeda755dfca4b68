// JSON-RPC 2.0 cases: bytes in, answers out. See README.md for the server they are run against.
// { name, framing?, send: [chunk…], expect: [response | {batch: […]} …] in any order, alive?: true }
import { batch, deep, fail, frame, line, ok, request } from './cases.lib.mjs';

const echo = (params, id = 1, extra) => request('echo', params, id, extra);
const alive = { after: line(request('echo', { n: 99 }, 'alive')), answer: ok('alive', { n: 99 }) };

export const cases = [
  // The examples of the specification.
  {
    name: 'positional',
    send: [line('{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}')],
    expect: [ok(1, 19)],
  },
  {
    name: 'positional, other way',
    send: [line('{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}')],
    expect: [ok(2, -19)],
  },
  {
    name: 'named',
    send: [
      line('{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}'),
    ],
    expect: [ok(3, 19)],
  },
  {
    name: 'named, other order',
    send: [
      line('{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}'),
    ],
    expect: [ok(4, 19)],
  },
  {
    name: 'notification',
    send: [line('{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}')],
    expect: [],
  },
  {
    name: 'notification of an unknown method',
    send: [line('{"jsonrpc": "2.0", "method": "foobar"}')],
    expect: [],
  },
  {
    name: 'unknown method',
    send: [line('{"jsonrpc": "2.0", "method": "foobar", "id": "1"}')],
    expect: [fail('1', -32601)],
  },
  {
    name: 'invalid JSON',
    send: [line('{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]')],
    expect: [fail(null, -32700)],
  },
  {
    name: 'invalid request',
    send: [line('{"jsonrpc": "2.0", "method": 1, "params": "bar"}')],
    expect: [fail(null, -32600)],
  },
  {
    name: 'batch, invalid JSON',
    send: [
      line('[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]'),
    ],
    expect: [fail(null, -32700)],
  },
  { name: 'empty batch', send: [line('[]')], expect: [fail(null, -32600)] },
  { name: 'batch of one invalid', send: [line('[1]')], expect: [batch(fail(null, -32600))] },
  {
    name: 'batch of three invalid',
    send: [line('[1,2,3]')],
    expect: [batch(fail(null, -32600), fail(null, -32600), fail(null, -32600))],
  },
  {
    name: 'mixed batch',
    send: [
      line(
        '[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method":"notify_hello","params":[7]},{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":"2"},{"foo":"boo"},{"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},{"jsonrpc":"2.0","method":"get_data","id":"9"}]',
      ),
    ],
    expect: [batch(ok('1', 7), ok('2', 19), fail(null, -32600), fail('5', -32601), ok('9', ['hello', 5]))],
  },
  {
    name: 'batch of notifications',
    send: [
      line(
        '[{"jsonrpc":"2.0","method":"notify_sum","params":[1,2,4]},{"jsonrpc":"2.0","method":"notify_hello","params":[7]}]',
      ),
    ],
    expect: [],
  },

  // Ids.
  { name: 'fractional id', send: [line(echo({ n: 1 }, 1.5))], expect: [ok(1.5, { n: 1 })] },
  { name: 'null id is a request', send: [line(echo({ n: 1 }, null))], expect: [ok(null, { n: 1 })] },
  { name: 'empty id', send: [line(echo({ n: 1 }, ''))], expect: [ok('', { n: 1 })] },
  { name: 'object id', send: [line(echo({ n: 1 }, {}))], expect: [fail(null, -32600)] },
  {
    name: '1 and "1" are two ids',
    send: [line(echo({ n: 1 }, 1)), line(echo({ n: 2 }, '1'))],
    expect: [ok(1, { n: 1 }), ok('1', { n: 2 })],
  },
  {
    name: 'duplicate id in flight',
    send: [
      line(request('slow', { ms: 300, tag: 'first' }, 7)),
      line(request('slow', { ms: 20, tag: 'second' }, 7)),
    ],
    expect: [fail(7, -32600), ok(7, 'first')],
  },

  // Requests that are none.
  { name: 'params is a number', send: [line(echo(1))], expect: [fail(1, -32600)] },
  { name: 'params is null', send: [line(echo(null))], expect: [fail(1, -32600)] },
  { name: 'method is a number', send: [line(request(1, { a: 1 }))], expect: [fail(1, -32600)] },
  { name: 'method missing', send: [line('{"jsonrpc":"2.0","params":{},"id":7}')], expect: [fail(7, -32600)] },
  {
    name: 'version missing',
    send: [line('{"method":"echo","params":{"n":1},"id":1}')],
    expect: [fail(1, -32600)],
  },
  {
    name: 'version is a number',
    send: [line('{"jsonrpc":2,"method":"echo","params":{"n":1},"id":1}')],
    expect: [fail(1, -32600)],
  },
  { name: 'top level null', send: [line('null')], expect: [fail(null, -32600)] },
  { name: 'top level string', send: [line('"str"')], expect: [fail(null, -32600)] },

  // Names.
  { name: 'method __proto__', send: [line(request('__proto__', { a: 1 }))], expect: [fail(1, -32601)] },
  { name: 'method toString', send: [line(request('toString', { a: 1 }))], expect: [fail(1, -32601)] },
  {
    name: 'params __proto__ does not pollute',
    send: [line('{"jsonrpc":"2.0","method":"polluted","params":{"__proto__":{"polluted":1}},"id":1}')],
    expect: [ok(1, false)],
  },
  {
    name: 'extra members are ignored',
    send: [line(echo({ n: 1 }, 1, { trace: 'x', foo: { bar: 1 } }))],
    expect: [ok(1, { n: 1 })],
  },

  // Batches.
  { name: 'nested batch', send: [line(`[[${echo({ n: 1 })}]]`)], expect: [batch(fail(null, -32600))] },
  {
    name: 'batch with null',
    send: [line(`[null,${echo({ n: 1 })}]`)],
    expect: [batch(fail(null, -32600), ok(1, { n: 1 }))],
  },
  { name: 'batch of one', send: [line(`[${echo({ n: 1 })}]`)], expect: [batch(ok(1, { n: 1 }))] },

  // Text.
  {
    name: 'lone surrogate',
    send: [line('{"jsonrpc":"2.0","method":"echo","params":{"s":"\\ud800"},"id":1}')],
    expect: [ok(1, { s: '\ud800' })],
  },
  {
    name: 'U+2028 is a character',
    send: [line('{"jsonrpc":"2.0","method":"echo","params":{"s":"a\u2028b"},"id":1}')],
    expect: [ok(1, { s: 'a\u2028b' })],
  },
  {
    name: 'invalid UTF-8',
    send: [
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","method":"echo","params":{"s":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"},"id":1}\n'),
      ]),
    ],
    expect: [fail(null, -32700)],
    alive,
  },
  {
    name: 'byte-order mark',
    send: [Buffer.from([0xef, 0xbb, 0xbf]), line(echo({ n: 1 }))],
    expect: [ok(1, { n: 1 })],
  },
  {
    name: 'ten megabytes',
    send: [line(request('length', { s: 'x'.repeat(10 * 1024 * 1024) }))],
    expect: [ok(1, 10485760)],
  },
  {
    name: 'nested too deep',
    send: [line(`{"jsonrpc":"2.0","method":"echo","params":{"v":${deep(100000)}},"id":1}`)],
    expect: [fail([1, null], -32600)],
    alive,
  },

  // Handlers.
  { name: 'handler throws', send: [line(request('throw_error', {}))], expect: [fail(1, -32603)], alive },
  {
    name: 'handler throws a coded error',
    send: [line(request('throw_coded', {}))],
    expect: [{ id: 1, code: 4242, data: { why: 'because' } }],
  },
  { name: 'handler returns undefined', send: [line(request('return_undefined', {}))], expect: [ok(1, null)] },
  {
    name: 'handler returns a BigInt',
    send: [line(request('return_bigint', {}))],
    expect: [fail(1, -32603)],
    alive,
  },

  // Lines.
  { name: 'CRLF', send: [Buffer.from(`${echo({ n: 1 })}\r\n`)], expect: [ok(1, { n: 1 })] },
  {
    name: 'blank lines',
    send: [Buffer.from(`\n\n  \n${echo({ n: 1 })}\n\n`)],
    expect: [ok(1, { n: 1 })],
  },
  {
    name: 'one byte a chunk',
    send: [...line(echo({ s: 'é漢😀' }))].map((b) => Buffer.from([b])),
    expect: [ok(1, { s: 'é漢😀' })],
  },
  {
    name: 'two messages in one chunk',
    send: [Buffer.concat([line(echo({ n: 1 }, 1)), line(echo({ n: 2 }, 2))])],
    expect: [ok(1, { n: 1 }), ok(2, { n: 2 })],
  },
  {
    name: 'alive after garbage',
    send: [line('{bad json'), line('[1,2'), line(echo({ n: 1 }, 5))],
    expect: [fail(null, -32700), fail(null, -32700), ok(5, { n: 1 })],
  },
  { name: 'unsolicited response', send: [line('{"jsonrpc":"2.0","id":999,"result":1}')], expect: [], alive },

  // Content-Length.
  {
    name: 'frame, one byte a chunk',
    framing: 'content-length',
    send: [...frame(echo({ s: 'é漢😀' }))].map((b) => Buffer.from([b])),
    expect: [ok(1, { s: 'é漢😀' })],
  },
  {
    name: 'frame, lower case and Content-Type',
    framing: 'content-length',
    send: [
      Buffer.from(
        `content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:${Buffer.byteLength(echo({ n: 1 }))}\r\n\r\n${echo({ n: 1 })}`,
      ),
    ],
    expect: [ok(1, { n: 1 })],
  },
  {
    name: 'frame, length 0 then a valid one',
    framing: 'content-length',
    send: [Buffer.from('Content-Length: 0\r\n\r\n'), frame(echo({ n: 1 }))],
    expect: [fail(null, -32700), ok(1, { n: 1 })],
  },
];
