// The Python SDK on the wire, byte for byte: exact numbers, refusals, odd messages, and how it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { projectFolder } from '../src/testing/project-folder.ts';

const PLUGIN = `
import dataclasses, decimal, subprocess, sys, threading, time; from typing import Annotated, List, Literal, Optional, TypedDict
from chassis_sdk import Plugin
plugin = Plugin(decimals="--decimals" in sys.argv)

@plugin.tool
def echo(input): return input

@plugin.tool
def add(a, b, c=0): return a + b + c

@plugin.tool
def many(**values): return sorted(values)

@plugin.tool
def exact(): return [decimal.Decimal("0.10"), 10**30, decimal.Decimal("1E+400")]

@plugin.tool
def bad(kind):
    cycle = []
    cycle.append(cycle)
    return {"x": {"keys": {1: 2}, "set": {1}, "bytes": b"", "cycle": cycle, "infinite": float("inf"), "nan": decimal.Decimal("NaN"), "when": time.gmtime}[kind]}

@plugin.tool
def leave(): sys.exit(3)

@plugin.tool
def child(): subprocess.run(["sh", "-c", "echo printed by a child"], check=True); return "ok"

@plugin.tool
def stuck(): threading.Event().wait()

@dataclasses.dataclass
class Order:
    id: int
    note: Optional[str] = None

class Page(TypedDict):
    rows: List[Order]
    more: bool

@plugin.tool
def hinted(order: Order, sort: Annotated[Literal["up", "down"], "which way"], limit: int = 10, ctx=None) -> Page:
    assert isinstance(order, Order) and ctx is not None
    return {"rows": [order, Order(limit)], "more": sort == "up"}

if __name__ == "__main__": plugin.run()
`;

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Starts the plugin, and gives a function that writes one line and reads the next line that comes back. */
async function started(...args: string[]) {
  const folder = projectFolder({ 'main.py': PLUGIN });
  const child = spawn('python3', ['main.py', ...args], {
    cwd: folder.root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PYTHONPATH: join(import.meta.dirname, '../../../python'),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.push(child);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (text: string): Promise<string> => {
    child.stdin.write(`${text}\n`);
    const next = await lines.next();
    if (next.done) throw new Error(`it ended: ${stderr}`);
    return next.value;
  };
  const invoke = async (tool: string, input = '{}') =>
    JSON.parse(
      await line(
        `{"jsonrpc":"2.0","id":"1","method":"plugin.invoke","params":{"tool":"${tool}","input":${input},"ctx":{"trace_id":"t"}}}`,
      ),
    ) as { result: { code: number; data: unknown; error: { message: string; details?: unknown } | null } };
  return { child, line, invoke, stderr: () => stderr, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test('whole numbers are exact, and with decimals the others too', async () => {
  using plugin = await started('--decimals');
  const answer = await plugin.line(
    '{"jsonrpc":"2.0","id":7,"method":"plugin.invoke","params":{"tool":"echo","input":{"id":9007199254740993,"amount":0.10,"big":1e400,"text":"\\ud800 é"},"ctx":{"trace_id":"t"}}}',
  );
  expect(answer).toBe(
    '{"jsonrpc":"2.0","id":7,"result":{"code":0,"data":{"id":9007199254740993,"amount":0.10,"big":1E+400,"text":"\\ud800 \\u00e9"},"error":null,"trace_id":"t"}}',
  );
});

test('a Decimal that is returned is written exactly, also without decimals', async () => {
  using plugin = await started();
  expect(
    await plugin.line(
      '{"jsonrpc":"2.0","id":1,"method":"plugin.invoke","params":{"tool":"exact","input":{},"ctx":{}}}',
    ),
  ).toContain('"data":[0.10,1000000000000000000000000000000,1E+400]');
});

test('type hints are the schemas, and make what they promise', async () => {
  using plugin = await started();
  const loaded = JSON.parse(
    await plugin.line('{"jsonrpc":"2.0","id":1,"method":"plugin.load","params":{}}'),
  ) as { result: { shapes: Record<string, unknown> } };
  const order = {
    type: 'object',
    properties: { id: { type: 'integer' }, note: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    required: ['id'],
    additionalProperties: false,
  };
  // A function without hints has no schema: what plugin.yaml says holds.
  expect(loaded.result.shapes).toEqual({
    hinted: {
      input: {
        type: 'object',
        properties: {
          order,
          sort: { enum: ['up', 'down'], description: 'which way' },
          limit: { type: 'integer', default: 10 },
        },
        required: ['order', 'sort'],
        additionalProperties: false,
      },
      output: {
        type: 'object',
        properties: { rows: { type: 'array', items: order }, more: { type: 'boolean' } },
        required: ['rows', 'more'],
        additionalProperties: false,
      },
    },
  });
  expect(
    (await plugin.invoke('hinted', '{"order":{"id":9007199254740993},"sort":"up"}')).result.data,
  ).toEqual({
    rows: [
      { id: 9007199254740992, note: null },
      { id: 10, note: null },
    ],
    more: true,
  });
  expect((await plugin.invoke('hinted', '{"order":{"no":1},"sort":"up"}')).result).toMatchObject({
    code: -32602,
    error: { message: expect.stringMatching(/^hinted: /) as string },
  });
});

test('arguments are given by name, and wrong ones are the caller’s mistake', async () => {
  using plugin = await started();
  expect((await plugin.invoke('add', '{"a":1,"b":2,"c":3}')).result).toMatchObject({ code: 0, data: 6 });
  expect((await plugin.invoke('many', '{"x":1,"a":2}')).result).toMatchObject({ code: 0, data: ['a', 'x'] });
  for (const input of ['{"a":1}', '{"a":1,"b":2,"d":3}']) {
    expect((await plugin.invoke('add', input)).result).toMatchObject({
      code: -32602,
      error: { message: expect.stringMatching(/^add: /) as string },
    });
  }
});

test.each([
  ['keys', '/x', 'keys of JSON are text'],
  ['set', '/x', 'type set'],
  ['bytes', '/x', 'type bytes'],
  ['cycle', '/x/0', 'a cycle'],
  ['infinite', '/x', 'inf'],
  ['nan', '/x', 'NaN'],
  ['when', '/x', 'which is no JSON'],
])('a result that JSON cannot hold is refused with its path: %s', async (kind, path, message) => {
  using plugin = await started();
  const { result } = await plugin.invoke('bad', `{"kind":"${kind}"}`);
  expect(result).toMatchObject({ code: -32009, data: null, error: { details: { path } } });
  expect(result.error?.message).toContain(message);
});

test('nesting up to the limit goes through', async () => {
  using plugin = await started();
  const deep = `{"d":${'['.repeat(400)}${']'.repeat(400)}}`;
  expect((await plugin.invoke('echo', deep)).result.code).toBe(0);
});

test('a handler that leaves the program fails its call only', async () => {
  using plugin = await started();
  expect((await plugin.invoke('leave')).result).toMatchObject({
    code: -32603,
    error: { message: 'SystemExit: 3 (main.py:25)', details: { place: 'main.py:25' } },
  });
  expect((await plugin.invoke('add', '{"a":1,"b":1}')).result.data).toBe(2);
});

test('what a child process prints never gets between the messages', async () => {
  using plugin = await started();
  expect((await plugin.invoke('child')).result.data).toBe('ok');
  expect(plugin.stderr()).toContain('printed by a child');
});

test.each([
  ['{"jsonrpc":', -32700, null],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":NaN}', -32700, null],
  ['[]', -32600, null],
  ['{"id":5,"method":"plugin.ready"}', -32600, 5],
  ['{"jsonrpc":"2.0","id":5,"method":1}', -32600, 5],
  ['{"jsonrpc":"2.0","id":true,"method":"plugin.ready"}', -32600, null],
  ['{"jsonrpc":"2.0","id":5,"method":"plugin.ready","params":3}', -32600, 5],
  ['{"jsonrpc":"2.0","id":5,"method":"__init__"}', -32601, 5],
  ['{"jsonrpc":"2.0","id":5,"method":"plugin.invoke","params":[1]}', -32602, 5],
])('a message that is none is answered and changes nothing: %s', async (text, code, id) => {
  using plugin = await started();
  expect(JSON.parse(await plugin.line(text))).toMatchObject({ id, error: { code } });
  expect(await plugin.line('{"jsonrpc":"2.0","id":null,"method":"plugin.ready","params":{}}')).toBe(
    '{"jsonrpc":"2.0","id":null,"result":true}',
  );
});

test('the end of stdin ends the process, though a handler is still at work', async () => {
  using plugin = await started();
  plugin.child.stdin?.write(
    '{"jsonrpc":"2.0","id":1,"method":"plugin.invoke","params":{"tool":"stuck","input":{},"ctx":{}}}\n',
  );
  expect(await plugin.line('{"jsonrpc":"2.0","id":2,"method":"plugin.ready","params":{}}')).toContain(
    '"result":true',
  );
  plugin.child.stdin?.end();
  const [code] = (await once(plugin.child, 'exit')) as [number];
  expect(code).toBe(0);
});
