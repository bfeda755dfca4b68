#!/usr/bin/env node
// Runs JSON-RPC cases against a server on stdio; one fresh server a case. Prints 'N passed, N failed'; exits 1 on a failure.
//
//     node run.mjs                          this package's server, under the pinned Node, in both framings
//     node run.mjs CASES.mjs -- COMMAND…    another server; the command gets "--framing ndjson|content-length" appended
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assign, matches } from './match.mjs';
import { reframed } from './reframe.mjs';

const here = import.meta.dirname;
const pinnedNode = resolve(here, '../../../../node_modules/.bin/node');

const [casesFile = resolve(here, 'jsonrpc.cases.mjs'), separator, ...given] = process.argv.slice(2);
if (separator !== undefined && (separator !== '--' || given.length === 0)) {
  console.error('usage: node run.mjs [CASES.mjs [-- COMMAND…]]');
  process.exit(2);
}
const ours = [
  existsSync(pinnedNode) ? pinnedNode : process.execPath,
  resolve(here, '../conformance-server.ts'),
];
const command = given.length > 0 ? given : ours;
const { cases } = await import(pathToFileURL(resolve(casesFile)));

function split(framing, buffer) {
  if (framing === 'ndjson') {
    return buffer
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
  }
  const texts = [];
  for (let rest = buffer; ; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return texts;
    const length = Number(/content-length:\s*(\d+)/i.exec(rest.subarray(0, end).toString())?.[1]);
    texts.push(rest.subarray(end + 4, end + 4 + length).toString('utf8'));
    rest = rest.subarray(end + 4 + length);
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { unparsable: text.slice(0, 200) };
  }
}

/** How long an answer may take, in ms: a busy machine starts a server slowly. */
const patience = 60_000;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function until(done, ms) {
  for (const end = Date.now() + ms; !done() && Date.now() < end; ) await sleep(15);
}

async function run(c) {
  const framing = c.framing ?? 'ndjson';
  const [program, ...args] = command;
  const child = spawn(program, [...args, '--framing', framing], { stdio: ['pipe', 'pipe', 'ignore'] });
  const chunks = [];
  let dead = false;
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  for (const event of ['exit', 'error']) child.on(event, () => (dead = true));
  child.stdin.on('error', () => {});
  const texts = () => split(framing, Buffer.concat(chunks));
  for (const part of c.send) {
    child.stdin.write(part);
    if (c.send.length < 200 && part.length === 1) await new Promise((next) => setImmediate(next));
  }
  if (c.eof) child.stdin.end();
  const wanted = c.expect.length;
  await until(() => texts().length >= wanted || dead, patience);
  await sleep(wanted === 0 ? 700 : 250); // nothing more may come
  const got = texts();
  let problem = assign(c.expect, got.map(parse)) ? null : `wanted ${JSON.stringify(c.expect).slice(0, 200)}`;
  if (!problem && c.alive) {
    child.stdin.write(c.alive.after);
    await until(() => texts().length > got.length || dead, patience);
    const more = texts().slice(got.length).map(parse);
    if (!more.some((answer) => matches(c.alive.answer, answer))) problem = 'the connection did not survive';
  }
  if (!problem && dead && !c.eof) problem = 'the server exited';
  child.kill('SIGKILL');
  return { problem, got: got.map((text) => text.slice(0, 160)) };
}

let passed = 0;
let failed = 0;
const queue = [...cases, ...reframed(cases)];
async function work() {
  for (let c = queue.shift(); c; c = queue.shift()) {
    const { problem, got } = await run(c);
    if (problem) {
      failed++;
      console.log(`not ok - ${c.name}: ${problem}; got ${JSON.stringify(got).slice(0, 300)}`);
    } else passed++;
  }
}
await Promise.all([work(), work()]);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
