/** Child processes: noise, death, silence, what they leave behind; and our own stdio. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ErrorCode, Peer, type SpawnOptions, spawnTransport } from '../src/index.ts';

const file = (name: string) => `${import.meta.dirname}/cases/${name}`;

function start(script: string, options: Partial<SpawnOptions> = {}) {
  const command = script.includes('\n')
    ? [process.execPath, '--input-type=module', '-e', script]
    : [process.execPath, script];
  const transport = spawnTransport({ command, env: {}, ...options });
  return { transport, peer: new Peer(transport, { dialect: 'mcp', log: () => {} }) };
}

function isAlive(pid: number): boolean {
  try {
    // A process that was killed but not reaped by its parent is not alive.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('a server that logs to stdout works; its noise is kept as such', async () => {
  const noise: string[] = [];
  const { peer, transport } = start(file('c1_noisy_server.mjs'), { onNoise: (line) => noise.push(line) });
  expect(await peer.call('initialize', {})).toMatchObject({ serverInfo: { name: 'tiny' } });
  expect(await peer.call('tools/list')).toMatchObject({ tools: [{ name: 'echo' }] });
  expect(await peer.call('tools/call', { name: 'echo' })).toMatchObject({ content: [{ text: 'pong' }] });
  expect(noise).toEqual([
    'tiny server v0.0.1 starting',
    '{"level":"info","msg":"up"}',
    '[1,2',
    'listing...',
    'calling',
  ]);
  expect(transport.noiseCount).toBe(5);
  await peer.close();
});

test('a server that dies rejects the pending call with its exit code and last words, five times over', async () => {
  for (let round = 0; round < 5; round++) {
    const { peer, transport } = start(file('c4_exit_server.mjs'));
    await peer.call('initialize', {});
    const error = await peer.call('tools/call', { name: 'boom' }).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: ErrorCode.Unavailable,
      message: expect.stringMatching(/exited with code 3: fatal: cannot open store$/),
      data: { kind: 'exit', exitCode: 3, stderr: 'fatal: cannot open store\n' },
    });
    await expect(peer.call('tools/call')).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
      data: { exitCode: 3 },
    });
    expect(await peer.closed).toMatchObject({ kind: 'exit', exitCode: 3 });
    expect(await transport.exited).toEqual({ code: 3, signal: null });
  }
});

test('a program is not kept alive by a dead child, nor by deadlines', async () => {
  const script = `
    import { Peer, spawnTransport } from ${JSON.stringify(`${import.meta.dirname}/../src/index.ts`)};
    const peer = new Peer(spawnTransport({ command: [process.execPath, ${JSON.stringify(file('c4_exit_server.mjs'))}] }));
    await peer.call('initialize', {});
    await peer.call('tools/call', {}, { timeoutMs: 60000 }).catch((error) => console.log(error.data.exitCode));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (text) => (out += text));
  const code = await new Promise((resolve) => child.on('exit', resolve));
  expect([code, out]).toEqual([0, '3\n']);
});

test('a silent server that ignores SIGTERM is gone after kill', async () => {
  const { peer, transport } = start(file('c7_silent_server.mjs'));
  await expect(peer.call('initialize', {}, { timeoutMs: 300 })).rejects.toMatchObject({
    code: ErrorCode.ToolTimeout,
  });
  await transport.kill(100);
  expect(await transport.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(await peer.closed).toMatchObject({ kind: 'exit', signal: 'SIGKILL' });
  expect(isAlive(transport.pid as number)).toBe(false);
});

const stubbornFamily = `
  import { spawn } from 'node:child_process';
  const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6); process.send?.('up')";
  process.on('SIGTERM', () => {});
  const child = spawn(process.execPath, ['-e', stubborn], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.on('message', () => console.log(JSON.stringify({ jsonrpc: '2.0', method: 'born', params: { pid: child.pid } })));
  process.stdin.on('data', () => process.exit(7));
`;

test('what a child has started is gone too: after kill, and after the child itself has died', async () => {
  for (const end of ['kill', 'exit'] as const) {
    const transport = spawnTransport({
      command: [process.execPath, '--input-type=module', '-e', stubbornFamily],
      env: {},
    });
    const peer = new Peer(transport, { log: () => {} });
    const { pid } = await new Promise<{ pid: number }>((resolve) => peer.notification('born', resolve));
    expect(isAlive(pid)).toBe(true);
    if (end === 'exit') await peer.notify('die');
    else void transport.kill(100);
    expect(await peer.closed).toMatchObject(
      end === 'exit' ? { kind: 'exit', exitCode: 7 } : { signal: 'SIGKILL' },
    );
    await transport.kill(100);
    await expect.poll(() => isAlive(pid)).toBe(false);
  }
});

test('a silent server does not outlive our process, even if nobody ends it', async () => {
  const script = `
    import { spawnTransport } from ${JSON.stringify(`${import.meta.dirname}/../src/index.ts`)};
    const { pid } = spawnTransport({ command: [process.execPath, ${JSON.stringify(file('c7_silent_server.mjs'))}] });
    console.log(pid);
    setTimeout(() => process.exit(), 300);
  `;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let pid = '';
  parent.stdout.on('data', (text) => (pid += text));
  await new Promise((resolve) => parent.on('exit', resolve));
  expect(Number(pid)).toBeGreaterThan(0);
  await expect.poll(() => isAlive(Number(pid))).toBe(false);
});

test('a program that cannot be started is the reason, not a crash', async () => {
  const peer = new Peer(spawnTransport({ command: ['/does/not/exist'] }));
  await expect(peer.call('m')).rejects.toMatchObject({
    code: ErrorCode.Unavailable,
    message: /cannot start.*ENOENT/,
  });
  expect(await peer.closed).toMatchObject({ kind: 'error' });
  expect(() => spawnTransport({ command: [] })).toThrow(TypeError);
});

test('stderr is always drained, and its end is kept', async () => {
  const pieces: string[] = [];
  const { peer, transport } = start(
    `
    process.stderr.write('x'.repeat(1 << 20) + '\\nthe end\\n');
    process.stdin.once('data', (line) => console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result: 1 })));
  `,
    { stderrBytes: 1000, onStderr: (text) => pieces.push(text) },
  );
  expect(await peer.call('m')).toBe(1);
  await peer.close();
  expect(pieces.join('')).toHaveLength((1 << 20) + 9);
  expect(transport.stderr).toHaveLength(1000);
  expect(transport.stderr).toMatch(/x\nthe end\n$/);
});

test('closing lets the child finish by itself', async () => {
  const { peer, transport } = start(`
    process.stdin.resume().on('end', () => process.exit(5));
  `);
  await peer.close();
  expect(await transport.exited).toEqual({ code: 5, signal: null });
  expect(await peer.closed).toMatchObject({ kind: 'closed' });
});

test('on our own stdio, whatever the process prints goes to stderr', async () => {
  const script = `
    console.log('before');
    const { Peer, stdioTransport } = await import(${JSON.stringify(`${import.meta.dirname}/../src/index.ts`)});
    const out = process.stdout;
    new Peer(stdioTransport()).method('chatty', () => {
      console.log('by console'); console.info('by info'); process.stdout.write('by stdout\\n'); out.write('by reference\\n');
      return 'quiet';
    });
  `;
  let stderr = '';
  const noise: string[] = [];
  const { peer } = start(script, {
    onNoise: (line) => noise.push(line),
    onStderr: (text) => (stderr += text),
  });
  expect(await peer.call('chatty')).toBe('quiet');
  await peer.close();
  expect(noise).toEqual(['before']);
  expect(stderr.split('\n')).toEqual(['by console', 'by info', 'by stdout', 'by reference', '']);
});

test('our own stdio server answers a last line without newline, and ends when its input does', async () => {
  const server = spawn(process.execPath, [`${import.meta.dirname}/conformance-server.ts`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  server.stdout.on('data', (text) => (out += text));
  server.stdin.end(
    '{"jsonrpc":"2.0","method":"slow","params":{"ms":100,"tag":"late"},"id":1}\n{"jsonrpc":"2.0","method":"get_data","id":2}',
  );
  const code = await new Promise((resolve) => server.on('exit', resolve));
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { jsonrpc: '2.0', id: 2, result: ['hello', 5] },
    { jsonrpc: '2.0', id: 1, result: 'late' },
  ]);
  expect(code).toBe(0);
});

test('a server survives a client that goes away before its answer', async () => {
  const server = spawn(
    process.execPath,
    ['--unhandled-rejections=strict', `${import.meta.dirname}/conformance-server.ts`],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  server.stdout.destroy();
  server.stdin.on('error', () => {});
  for (let n = 0; n < 100; n++)
    server.stdin.write(`{"jsonrpc":"2.0","method":"echo","params":[${n}],"id":${n}}\n`);
  server.stdin.end();
  expect(await new Promise((resolve) => server.on('exit', (code, signal) => resolve(code ?? signal)))).toBe(
    0,
  );
});
