/** Compares what a manifest lists with what a loaded plugin can serve. Pure. */
import { ChassisError } from '@chassis/errors';
import { checkSchema, issueText } from '@chassis/schema';
import type { ToolShape } from '@chassis/sdk';
import type { JsonObject, ToolDefinition } from '@chassis/types';
import type { ManifestSource } from '../plugin/manifest.ts';
import type { Offer } from './host.ts';

/** Names that the plugin's code serves; `*` among the models serves all of them. */
export interface Served {
  readonly tools: Iterable<string>;
  readonly models: Iterable<string>;
  readonly agents: Iterable<string>;
  readonly policies?: Iterable<string>;
  /** Schemas that stand in the code; they fill what the manifest leaves open. */
  readonly shapes?: { readonly [tool: string]: ToolShape };
}

/**
 * @param models names of models from the manifest and the configuration
 * @param served undefined when the plugin cannot be asked, so that its manifest is believed
 */
export function offerOf(
  { manifest, at }: Pick<ManifestSource, 'manifest' | 'at'>,
  models: readonly string[],
  served?: Served,
): Offer {
  const dropped: Offer['dropped'][number][] = [];
  const drop = (capability: string, message: string, fix: string): void => {
    dropped.push({ capability, cause: new ChassisError('InvalidParams', message), fix });
  };
  const keep = (kind: string, listed: readonly string[], names: Iterable<string> | undefined): string[] => {
    if (names === undefined) return [...listed];
    const known = new Set(names);
    for (const name of known) {
      if (name !== '*' && !listed.includes(name)) {
        drop(
          `${kind}.${name}`,
          `the plugin serves the ${kind} "${name}", but plugin.yaml does not list it`,
          `list it under ${kind === 'policy' ? 'policies' : `${kind}s`}`,
        );
      }
    }
    return listed.filter((name) => {
      if (known.has(name) || known.has('*')) return true;
      drop(
        `${kind}.${name}`,
        `plugin.yaml lists the ${kind} "${name}", but the plugin does not serve it`,
        `add a handler for ${name}`,
      );
      return false;
    });
  };

  const sound = quarantine(
    manifest.tools.map((tool) => shaped(tool, served?.shapes)),
    drop,
    (tool, side, path) => {
      const index = manifest.tools.findIndex((one) => one.name === tool.name && one[side] === tool[side]);
      return index < 0 ? undefined : at(`/tools/${index}/${side}${path}`);
    },
  );
  const kept = keep(
    'tool',
    manifest.tools.map((tool) => tool.name),
    served?.tools,
  );
  return {
    tools: sound.filter((tool) => kept.includes(tool.name)),
    models: keep('model', models, served?.models),
    agents: keep(
      'agent',
      manifest.agents.map((agent) => agent.name),
      served?.agents,
    ),
    policies: keep(
      'policy',
      manifest.policies.map((policy) => policy.name),
      served === undefined ? undefined : (served.policies ?? []),
    ),
    dropped,
  };
}

/** The manifest's word on schemas, else the code's. */
function shaped(tool: ToolDefinition, shapes: Served['shapes']): ToolDefinition {
  const shape = shapes !== undefined && Object.hasOwn(shapes, tool.name) ? shapes[tool.name] : undefined;
  if (shape === undefined) return tool;
  const input = isOpen(tool.input) && isObject(shape.input) ? shape.input : tool.input;
  const output = tool.output === undefined && isObject(shape.output) ? shape.output : tool.output;
  return { ...tool, input, ...(output === undefined ? {} : { output }) };
}

/** Whether a schema says nothing but that it is about an object: what a manifest without one is read as. */
function isOpen(schema: JsonObject): boolean {
  return Object.keys(schema).length === 1 && schema.type === 'object';
}

/** A plugin's answer may be anything. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * One tool with a schema that cannot be used costs that tool only.
 * @param place where a part of a schema stands in a file, if it does
 */
export function quarantine(
  tools: readonly ToolDefinition[],
  drop: (capability: string, message: string, fix: string) => void,
  place: (tool: ToolDefinition, side: 'input' | 'output', path: string) => string | undefined = () =>
    undefined,
): ToolDefinition[] {
  return tools.filter((tool) => {
    for (const side of ['input', 'output'] as const) {
      const schema = tool[side];
      const [issue] = schema === undefined ? [] : checkSchema(schema);
      if (issue !== undefined) {
        const at = place(tool, side, issue.path);
        drop(
          `tool.${tool.name}`,
          `${at === undefined ? '' : `${at}: `}the ${side} schema of ${tool.name} is broken: ${issueText(issue)}`,
          at === undefined ? `correct the ${side} schema` : `correct ${at}`,
        );
        return false;
      }
    }
    return true;
  });
}
