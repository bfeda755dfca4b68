/**
 * The validator's raw errors as issues: one sentence each, and only those that help.
 *
 * Of a value that fits no branch of a choice, the branch it evidently meant is explained; where none stands
 * out, one issue names all that was possible.
 */
import type { ErrorObject } from 'ajv';
import { describe, type Issue, pointerToken, shown } from './issue.ts';
import { didYouMean } from './nearest.ts';

export function explain(errors: readonly ErrorObject[], root: unknown): Issue[] {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  for (const error of withoutNoise(errors)) {
    const issue = one(error, root);
    const key = `${issue.path}\n${issue.message}`;
    if (!seen.has(key)) {
      seen.add(key);
      issues.push(issue);
    }
  }
  return issues;
}

/** Keeps, for every failed choice, either one branch's errors or the choice's own. */
function withoutNoise(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let kept = [...errors];
  for (const choice of errors) {
    if (choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') continue;
    if ((choice.params as { passingSchemas?: unknown }).passingSchemas) continue; // too many fit
    const branchOf = branchFinder(choice);
    const branches = new Map<string, ErrorObject[]>();
    for (const error of kept) {
      const branch = branchOf(error);
      if (branch !== undefined) branches.set(branch, [...(branches.get(branch) ?? []), error]);
    }
    const meant = [...branches.values()].filter(
      (inside) => !inside.some((error) => rulesOut(error, choice.instancePath)),
    );
    const chosen = meant.length === 1 ? meant[0] : undefined;
    kept = kept.filter((error) => {
      if (error === choice) return chosen === undefined;
      if (branchOf(error) === undefined) return true;
      return chosen?.includes(error) ?? false;
    });
  }
  return kept.filter((error) => error.keyword !== 'if' && error.keyword !== 'propertyNames');
}

/** Which branch of a choice an error lies in; one that is a reference reports from where it leads to. */
function branchFinder(choice: ErrorObject): (error: ErrorObject) => string | undefined {
  const branches = (choice.schema as { $ref?: unknown }[]).map((branch, i) => {
    const own = `${choice.schemaPath}/${i}/`;
    return typeof branch.$ref === 'string' ? [own, `${branch.$ref}/`] : [own];
  });
  return (error) => {
    if (error === choice || !error.instancePath.startsWith(choice.instancePath)) return undefined;
    const index = branches.findIndex((prefixes) =>
      prefixes.some((prefix) => error.schemaPath.startsWith(prefix)),
    );
    return index < 0 ? undefined : String(index);
  };
}

/** Whether an error says that this branch was not meant: another type, or another tag. */
function rulesOut(error: ErrorObject, at: string): boolean {
  if (error.keyword === 'type') return error.instancePath === at;
  return error.keyword === 'const' && error.instancePath.startsWith(at);
}

function one(error: ErrorObject, root: unknown): Issue {
  const path = error.instancePath;
  const params = error.params as Record<string, unknown>;
  const parent = (error.parentSchema ?? {}) as Record<string, unknown>;
  const issue = (message: string, expected?: string, received?: string, at = path): Issue => ({
    path: at,
    message,
    ...(expected === undefined ? {} : { expected }),
    ...(received === undefined ? {} : { received }),
  });
  const found = describe(error.data);

  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const key = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = Object.keys((parent.properties as object | undefined) ?? {});
      const list = known.length === 0 ? 'no keys here' : `one of ${known.join(', ')}`;
      const hint = didYouMean(key, known) || (known.length > 0 ? `; expected ${list}` : '');
      return issue(`unknown key "${key}"${hint}`, list, `"${key}"`, `${path}/${pointerToken(key)}`);
    }
    case 'required': {
      const key = String(params.missingProperty);
      const member = (parent.properties as Record<string, unknown> | undefined)?.[key];
      const expected = expectation(member);
      return issue(`"${key}" is missing${expected ? `; expected ${expected}` : ''}`, expected, 'nothing');
    }
    case 'type': {
      const expected = typeWords(params.type);
      return issue(`expected ${expected}, found ${found}`, expected, found);
    }
    case 'enum':
    case 'const': {
      const values = error.keyword === 'enum' ? (params.allowedValues as unknown[]) : [params.allowedValue];
      const expected =
        values.length === 1 ? shown(values[0]) : `one of ${values.slice(0, 20).map(shown).join(', ')}`;
      const words = values.filter((value): value is string => typeof value === 'string');
      const hint = typeof error.data === 'string' ? didYouMean(error.data, words) : '';
      return issue(`expected ${expected}, found ${found}${hint}`, expected, found);
    }
    case 'pattern': {
      const name = (error as { propertyName?: string }).propertyName;
      const expected =
        typeof parent.description === 'string'
          ? parent.description
          : `text that matches ${String(params.pattern)}`;
      if (name !== undefined) {
        return issue(
          `"${name}" is no valid key here; expected ${expected}`,
          expected,
          `"${name}"`,
          `${path}/${pointerToken(name)}`,
        );
      }
      return issue(`expected ${expected}, found ${found}`, expected, found);
    }
    case 'format': {
      const expected = `a valid ${String(params.format)}`;
      return issue(`expected ${expected}, found ${found}`, expected, found);
    }
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum': {
      const expected = `a number ${String(params.comparison)} ${String(params.limit)}`;
      return issue(`expected ${expected}, found ${found}`, expected, found);
    }
    case 'anyOf':
    case 'oneOf': {
      const branches = (error.schema as unknown[]).map(expectation).filter((text) => text !== undefined);
      const expected = branches.length > 0 ? [...new Set(branches)].join(' or ') : 'one of several shapes';
      const twice = params.passingSchemas
        ? `; it fits more than one shape of ${expected}`
        : `expected ${expected}, found ${found}`;
      return issue(twice.replace(/^; /, ''), expected, found);
    }
    case 'false schema':
      return issue(path === '' ? 'nothing is valid here' : 'this must not be here', 'nothing', found);
    default: {
      const message = (error.message ?? `breaks "${error.keyword}"`).replace(/^must/, 'it must');
      const value = path === '' && root === error.data ? '' : `; found ${found}`;
      return issue(`${message}${value}`, error.message, found);
    }
  }
}

function typeWords(type: unknown): string {
  const words: Record<string, string> = {
    string: 'a string',
    number: 'a number',
    integer: 'a whole number',
    boolean: 'true or false',
    object: 'an object',
    array: 'a list',
    null: 'null',
  };
  const list = Array.isArray(type) ? type : [type];
  return list.map((name) => words[String(name)] ?? String(name)).join(' or ');
}

/** What a schema asks for, in a few words: its description, its values, or its type. */
function expectation(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { description, type, enum: values, const: only } = schema as Record<string, unknown>;
  if (typeof description === 'string' && description.length <= 80) return description.replace(/\.$/, '');
  if (Array.isArray(values)) return `one of ${values.slice(0, 20).map(shown).join(', ')}`;
  if (only !== undefined) return shown(only);
  return type === undefined ? undefined : typeWords(type);
}
