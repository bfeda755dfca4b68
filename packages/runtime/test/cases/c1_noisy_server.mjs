import readline from 'node:readline';

const send = (o) => process.stdout.write(`${JSON.stringify(o)}\n`);
const ok = (id, result) => send({ jsonrpc: '2.0', id, result });
const init = (m) =>
  ok(m.id, {
    protocolVersion: m.params?.protocolVersion ?? '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'tiny', version: '0.0.1' },
  });
const tool = (name) => ({ name, description: name, inputSchema: { type: 'object', properties: {} } });
const text = (t) => ({ content: [{ type: 'text', text: t }] });
const each = (f) =>
  readline.createInterface({ input: process.stdin }).on('line', (l) => {
    if (l.trim()) f(JSON.parse(l));
  });
// writes four kinds of noise to stdout around valid messages
process.stdout.write('tiny server v0.0.1 starting\n');
process.stdout.write('{"level":"info","msg":"up"}\n\n[1,2\n');
each((m) => {
  if (m.method === 'initialize') init(m);
  else if (m.method === 'tools/list') {
    process.stdout.write('listing...\n');
    ok(m.id, { tools: [tool('echo')] });
  } else if (m.method === 'tools/call') {
    process.stdout.write('calling\n');
    ok(m.id, text('pong'));
  }
});
