/**
 * Makes a fresh checkout ready to run: the npm packages of the lock file and, for the tests, a few Debian packages.
 *
 * Promise: runs on Node 20 with npm 10 or newer, does nothing when everything is there, lets one of several parallel
 * calls do the work, and ends either ready or with one line that says what to do. It never changes the lock file.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hold } from './lock.mjs';
import { isMain, main, pinnedNode, root, runChild, SetupError } from './pinned-node.mjs';

/** What the tests need from the system: a command, a probe that must succeed, its Debian package, and why. */
const systemNeeds = [
  {
    command: 'python3',
    probe: ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'],
    debian: 'python3',
    why: 'without Python 3.9 or newer the tests of Python plugins cannot run',
  },
  {
    command: '/usr/bin/python3',
    probe: ['-m', 'pytest', '--version'],
    debian: 'python3-pytest',
    why: 'without it the test of recorded sessions in pytest cannot run',
  },
  {
    command: 'git',
    probe: ['--version'],
    debian: 'git',
    why: 'without it the tests of workspaces under version control cannot run',
  },
];

const say = (line) => process.stderr.write(`setup: ${line}\n`);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
const network =
  /\b(ECONNRESET|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|EPIPE|ERR_SOCKET_TIMEOUT|EINTEGRITY|E50[0234]|E429)\b/;

/**
 * @param {{ packages?: boolean }} [options] `packages`: also see to what the tests need from the system
 * @throws {SetupError} one line that says what to do
 */
export async function setup({ packages = false } = {}) {
  await installPackages(root, { usable: nodeIsThere });
  pinnedNode();
  if (packages) await installSystemNeeds();
}

/**
 * Installs the npm packages of the lock file in `dir`, unless they are there.
 *
 * @param {string} dir
 * @param {{ usable?: () => boolean }} [options] a further condition for what is there to be good enough
 */
export async function installPackages(dir, { usable = () => true } = {}) {
  const ready = () => isInstalled(dir) && usable();
  if (ready()) return;
  await hold(join(root, '.cache', 'setup.lock'), say, async () => {
    if (ready()) return;
    const started = Date.now();
    const name = relative(root, dir);
    say(`installing the packages of ${join(name, 'package-lock.json')} with npm ci …`);
    // Nothing may vouch for an install that is interrupted half way.
    for (const proof of [stampFile(dir), npmRecord(dir)]) rmSync(proof, { force: true });
    const slow = setInterval(() => say(`still installing after ${seconds(started)}`), 20_000);
    await npmCi(dir).finally(() => clearInterval(slow));
    writeFileSync(stampFile(dir), lockDigest(dir));
    say(`packages installed in ${seconds(started)}`);
  });
}

const stampFile = (dir) => join(dir, 'node_modules', '.chassis-stamp');
const npmRecord = (dir) => join(dir, 'node_modules', '.package-lock.json');
const lockDigest = (dir) =>
  createHash('sha256')
    .update(readFileSync(join(dir, 'package-lock.json')))
    .digest('hex');

function isInstalled(dir) {
  if (!existsSync(npmRecord(dir))) return false;
  if (existsSync(stampFile(dir)) && readFileSync(stampFile(dir), 'utf8') === lockDigest(dir)) return true;
  if (!matchesNpmRecord(dir)) return false;
  writeFileSync(stampFile(dir), lockDigest(dir));
  return true;
}

/** An install made by hand counts as well, when npm's own record of it agrees with the lock file. */
function matchesNpmRecord(dir) {
  const packagesOf = (file) => {
    const entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages);
    return new Map(entries.filter(([path]) => path.includes('node_modules/')));
  };
  const wanted = packagesOf(join(dir, 'package-lock.json'));
  const present = packagesOf(npmRecord(dir));
  const same = (a, b) => a.version === b.version && a.integrity === b.integrity && a.link === b.link;
  for (const [path, entry] of present) if (!wanted.has(path) || !same(entry, wanted.get(path))) return false;
  for (const [path, entry] of wanted) if (!present.has(path) && !entry.optional) return false;
  return true;
}

function nodeIsThere() {
  try {
    pinnedNode();
    return true;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    // Where no Node is published for the platform, installing again brings none.
    return process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch);
  }
}

async function npmCi(dir) {
  const [command, ...first] = npm();
  // What a person left out by configuration (NODE_ENV=production, omit=optional) is needed here all the same.
  const args = [...first, 'ci', '--loglevel=error', '--include=dev', '--include=optional'];
  for (let attempt = 1; ; attempt++) {
    const { code, output } = await runChild(command, args, { cwd: dir, env: npmEnv(), capture: true });
    if (code === 0) return;
    if (code === 127)
      throw new SetupError(`setup: npm was not found (${output.trim()}): install Node 20 or newer with npm`);
    const isNetwork = network.test(output);
    if (attempt === 1 && isNetwork) {
      say('npm ci failed on the network, trying once more in 5 s');
      await new Promise((resume) => setTimeout(resume, 5000));
      continue;
    }
    process.stderr.write(`${output.trimEnd().split('\n').slice(-20).join('\n')}\n`);
    throw new SetupError(
      isNetwork
        ? "setup: the packages could not be downloaded: check the network and npm's proxy and registry settings"
        : `setup: npm ci failed with exit code ${code} in ${dir}`,
    );
  }
}

/** npm under the Node that came with it: the pinned Node is among the files that `npm ci` replaces. */
function npm() {
  const { npm_execpath: cli = '', npm_node_execpath: node = '' } = process.env;
  const bundled = /npm-cli\.[cm]?js$/.test(cli) && existsSync(cli);
  return bundled && existsSync(node) && !node.startsWith(root) ? [node, cli] : ['npm'];
}

/** Without what an outer `npm test` tells its script, and without this checkout's own tools. */
function npmEnv() {
  const outer = /^npm_(package_|lifecycle_|command$|config_local_prefix$)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
  env.PATH = (env.PATH ?? '')
    .split(':')
    .filter((entry) => !entry.startsWith(join(root, 'node_modules')))
    .join(':');
  return env;
}

/** What the tests need from the system and is not there. */
const missing = () =>
  systemNeeds.filter(({ command, probe }) => spawnSync(command, probe, { stdio: 'ignore' }).status !== 0);

/** Installs what is missing where that is possible; elsewhere says what is missing, which with CI=true is an error. */
async function installSystemNeeds() {
  if (missing().length > 0 && process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0)
    await hold(join(root, '.cache', 'setup.lock'), say, aptGet);
  const still = missing();
  for (const { command, debian, why } of still)
    say(`${command} is missing (Debian package ${debian}): ${why}`);
  if (still.length > 0 && process.env.CI === 'true')
    throw new SetupError('setup: with CI=true no test may be skipped: install what is missing');
}

async function aptGet() {
  const names = missing().map(({ debian }) => debian);
  if (names.length === 0) return;
  const started = Date.now();
  say(`installing Debian packages: ${names.join(' ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...names],
  ]) {
    const { code, output } = await runChild('apt-get', args, { cwd: root, env, capture: true });
    if (code !== 0) return say(`apt-get ${args[0]} failed: ${output.trim().split('\n').at(-1)}`);
  }
  say(`Debian packages installed in ${seconds(started)}`);
}

if (isMain(import.meta)) await main(() => setup({ packages: process.argv.includes('--packages') }));
