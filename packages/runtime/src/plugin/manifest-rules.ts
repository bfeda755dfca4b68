/** The rules of a manifest that a schema cannot say. Pure; every finding has its place. */
import { isAbsolute, normalize } from 'node:path';
import { type Issue, type SourceDocument, withPlace } from '@chassis/schema';
import validVersion from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import { placeholdersIn } from '../project/placeholders.ts';
import { HARNESS } from './names.ts';

/** Control-plane methods of the tool namespace; a tool of that name would hide them. */
const RESERVED_TOOLS = new Set(['list', 'call', 'cancel', 'progress']);
/** Keys of `plugins:` in the configuration that are no plugin, and the harness itself. */
const RESERVED_PLUGINS = new Set(['paths', 'npm', 'watch', HARNESS]);

/** Variables that make a program load code or another configuration: no manifest may ask for them. */
const LOADER_VARIABLE =
  /^(NODE_OPTIONS|NODE_PATH|LD_.*|DYLD_.*|PYTHON.*|BASH_ENV|ENV|PERL5.*|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|GIT_.*|PROMPT_COMMAND|IFS)$/i;

interface Written {
  readonly name: string;
  readonly version: string;
  readonly chassis?: string;
  readonly runtime?: string;
  readonly protocol?: string;
  readonly command?: readonly string[];
  readonly module?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly depends_on?: readonly { name?: string; capability?: string; version?: string }[];
  readonly permissions?: { readonly env?: readonly string[]; readonly secrets?: readonly string[] };
  readonly tools?: readonly { name: string; method?: string; input?: { type?: unknown } }[];
  readonly models?: readonly (string | { name: string })[];
  readonly agents?: readonly (string | { name: string })[];
  readonly memory?: readonly unknown[];
  readonly policies?: readonly unknown[];
  readonly skills?: readonly string[];
}

export function checkRules(document: SourceDocument): readonly Issue[] {
  const written = document.value as Written;
  const issues: Issue[] = [];
  const add: Add = (path, message, expected) => {
    const what = message.startsWith(`"${path.slice(1)}" is not for`) ? 'key' : 'value';
    issues.push(
      withPlace(document, { path, message, ...(expected === undefined ? {} : { expected }) }, what),
    );
  };

  if (RESERVED_PLUGINS.has(written.name)) add('/name', `the name "${written.name}" is reserved`);
  if (validVersion(written.version) === null) {
    add(
      '/version',
      `"${written.version}" is no semantic version; write one such as 1.2.0`,
      'a semantic version',
    );
  }
  if (written.chassis !== undefined && validRange(written.chassis) === null) {
    add(
      '/chassis',
      `"${written.chassis}" is no version range; write one such as ">=0.1 <1"`,
      'a version range',
    );
  }
  entry(written, add);
  written.depends_on?.forEach((edge, i) => {
    if ((edge.name === undefined) === (edge.capability === undefined)) {
      add(
        `/depends_on/${i}`,
        edge.name === undefined
          ? '"name" is missing: give the name of a plugin, or a capability such as model or tool.fetch_orders'
          : 'a dependency has a name or a capability, not both; write two',
      );
    }
    if (edge.name === written.name) add(`/depends_on/${i}/name`, 'a plugin cannot depend on itself');
    if (edge.version !== undefined && validRange(edge.version) === null) {
      add(`/depends_on/${i}/version`, `"${edge.version}" is no version range; write one such as ^1.0.0`);
    }
  });
  written.permissions?.env?.forEach((name, i) => {
    if (LOADER_VARIABLE.test(name)) {
      add(`/permissions/env/${i}`, `${name} can make a program load other code; no plugin is given it`);
    }
  });
  written.tools?.forEach((tool, i) => {
    if (RESERVED_TOOLS.has(tool.name)) {
      add(`/tools/${i}/name`, `"${tool.name}" is reserved for the method tool.${tool.name}`);
    }
    if (tool.method !== undefined && written.protocol !== 'jsonrpc') {
      add(`/tools/${i}/method`, '"method" is only for protocol: jsonrpc');
    }
    if (tool.input !== undefined && tool.input.type !== 'object') {
      add(`/tools/${i}/input`, 'the input of a tool is named arguments; write type: object', 'type: object');
    }
  });
  for (const [i, path] of (written.skills ?? []).entries()) within(`/skills/${i}`, path, add);
  unique('tools', written.tools ?? [], add);
  unique('models', written.models ?? [], add);
  unique('agents', written.agents ?? [], add);
  unique(
    'depends_on',
    (written.depends_on ?? []).map(({ name, capability }, i) => name ?? capability ?? `${i}`),
    add,
  );
  return issues;
}

type Add = (path: string, message: string, expected?: string) => void;

/** Each runtime needs its one way to start, and no other. */
function entry(written: Written, add: Add): void {
  const { runtime } = written;
  if (runtime === undefined) {
    runsNothing(written, add);
    return;
  }
  const needs: Record<string, readonly ('module' | 'command' | 'url')[]> = {
    inline: ['module'],
    worker: ['module'],
    process: ['command'],
    mcp: ['command', 'url'],
    http: ['url'],
  };
  const allowed = needs[runtime] ?? [];
  const given = (['module', 'command', 'url'] as const).filter((key) => written[key] !== undefined);
  for (const key of given) {
    if (!allowed.includes(key)) {
      add(`/${key}`, `"${key}" is not for runtime: ${runtime}; expected ${allowed.join(' or ')}`);
    }
  }
  if (!given.some((key) => allowed.includes(key))) {
    add('', `"${allowed[0]}" is missing; runtime: ${runtime} needs ${allowed.join(' or ')}`);
  }
  if (written.module !== undefined) within('/module', written.module, add);
  address(written, add);
  if (written.protocol !== undefined && runtime !== 'process' && runtime !== 'http') {
    add('/protocol', `"protocol" is not for runtime: ${runtime}`);
  }
}

/** Without a runtime a plugin brings skills and nothing else. */
function runsNothing(written: Written, add: Add): void {
  const { tools, models, agents, memory, policies, skills } = written;
  const code = (['module', 'command', 'url', 'protocol', 'headers'] as const).find(
    (key) => written[key] !== undefined,
  );
  const offers = [tools, models, agents, memory, policies].some((section) => (section?.length ?? 0) > 0);
  if ((skills?.length ?? 0) > 0 && code === undefined && !offers) return;
  add('', '"runtime" is missing: inline, worker, process, mcp or http; only a plugin of skills needs none');
}

function within(pointer: string, path: string, add: Add): void {
  const inside = normalize(path);
  if (isAbsolute(inside) || inside.startsWith('..'))
    add(pointer, `"${path}" leads out of the plugin's folder`);
}

/** An address that can be used, without credentials in it, and headers that reach no more than was granted. */
function address({ url, headers, runtime, permissions = {} }: Written, add: Add): void {
  if (headers !== undefined && url === undefined) add('/headers', '"headers" is only for plugins with a url');
  if (url !== undefined) {
    const parsed = URL.parse(url);
    if (parsed === null) add('/url', `"${url}" is no address`);
    else if (parsed.username !== '' || parsed.password !== '') {
      add('/url', 'an address holds no credentials; send them as a header, by reference to a secret');
    } else if (runtime === 'mcp' && parsed.protocol.startsWith('ws')) {
      add('/url', 'MCP servers are reached over http or https', 'an http or https address');
    }
  }
  const granted = [...(permissions.env ?? []), ...(permissions.secrets ?? [])];
  for (const [name, value] of Object.entries(headers ?? {})) {
    for (const placeholder of placeholdersIn(value)) {
      if (granted.includes(placeholder.name)) continue;
      const list = placeholder.kind === 'env' ? 'permissions.env' : 'permissions.secrets';
      add(`/headers/${name}`, `the header needs ${placeholder.name}, which ${list} does not list`);
    }
  }
}

function unique(section: string, items: readonly (string | { name: string })[], add: Add): void {
  const seen = new Set<string>();
  items.forEach((item, i) => {
    const name = typeof item === 'string' ? item : item.name;
    if (seen.has(name)) add(`/${section}/${i}`, `"${name}" is listed twice under ${section}`);
    seen.add(name);
  });
}
