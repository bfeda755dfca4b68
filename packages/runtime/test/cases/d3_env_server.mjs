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
// returns its environment variable NAMES, and TOKEN's value length (never the value)
each((m) => {
  if (m.method === 'initialize') init(m);
  else if (m.method === 'tools/list') ok(m.id, { tools: [tool('env')] });
  else if (m.method === 'tools/call')
    ok(
      m.id,
      text(
        JSON.stringify({
          names: Object.keys(process.env).sort(),
          token_len: (process.env.TOKEN ?? '').length,
        }),
      ),
    );
});
