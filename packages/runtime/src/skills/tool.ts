/**
 * `skill`: how a model comes by what a skill says. It is shown names and descriptions; the text and the files beside it come when
 * it asks for them.
 *
 * Promise: what is shown depends on the skills alone, and stands in the turn's list of tools; what was read is the result of a
 * step. So a replay needs no skill. Nothing outside of a skill's own folder is read, whatever links lead there.
 */
import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { ChassisError, toChassisError } from '@chassis/errors';
import { didYouMean } from '@chassis/schema';
import { failure, success } from '@chassis/sdk';
import type { Json, Result, ToolDefinition } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import { contentDigest } from '../plugin/digest.ts';
import { SKILL_TOOL } from '../plugin/names.ts';
import { filesOf, readSkill, readText, type Skill } from './skill.ts';

/** Characters that all descriptions together may take in a request; beyond it each is cut to its share. */
const LISTED = 16_000;
/** Names of files that one answer lists. */
const FILES = 200;

const made = new WeakMap<readonly Skill[], ToolDefinition>();

/** @param skills those that can be read now; the same list gives the same definition */
export function skillTool(skills: readonly Skill[]): ToolDefinition {
  const known = made.get(skills);
  if (known !== undefined) return known;
  const definition: ToolDefinition = {
    name: SKILL_TOOL,
    description: `Loads a skill: instructions for a kind of task, kept until they are needed. When a task fits one of these, load it before you begin and follow it; "file" reads a file that its text names.\n${listed(skills)}`,
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 129, description: 'name of the skill' },
        file: {
          type: 'string',
          minLength: 1,
          maxLength: 1_000,
          description: "path of a file, relative to the skill's folder; without it the skill's own text",
        },
      },
      required: ['name'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['name', 'content'],
      properties: {
        name: { type: 'string' },
        content: { type: 'string' },
        folder: { type: 'string', description: 'where the skill is; paths in its text are relative to it' },
        files: { type: 'array', items: { type: 'string' }, description: 'what else is there to read' },
        more_files: { type: 'integer' },
        compatibility: { type: 'string' },
        digest: { type: 'string', description: 'SHA-256 over the files of the skill' },
        file: { type: 'string' },
      },
    },
    effects: 'read',
    idempotent: true,
    approval: 'auto',
    timeout_ms: 30_000,
  };
  made.set(skills, definition);
  return definition;
}

function listed(skills: readonly Skill[]): string {
  const total = skills.reduce((sum, { description }) => sum + description.length, 0);
  const share = total <= LISTED ? Number.POSITIVE_INFINITY : Math.floor(LISTED / skills.length);
  return skills
    .map(({ name, description }) => `- ${name}: ${cut(description.replace(/\s+/g, ' ').trim(), share)}`)
    .join('\n');
}

function cut(text: string, length: number): string {
  return text.length <= length
    ? text
    : `${text.slice(0, Math.max(0, length - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** @param skills those that can be read, whenever it is asked */
export async function answerSkill(
  { payload, ctx }: Invocation,
  skills: () => readonly Skill[],
): Promise<Result> {
  try {
    const { name, file } = payload.input as unknown as { readonly name: string; readonly file?: string };
    const known = skills();
    const skill = known.find((one) => one.name === name);
    if (skill === undefined) throw unknownSkill(name, known);
    return success(file === undefined ? await whole(skill) : await part(skill, file), ctx.trace_id);
  } catch (error) {
    return failure(toChassisError(error), ctx.trace_id);
  }
}

function unknownSkill(name: string, known: readonly Skill[]): ChassisError {
  const names = known.map((skill) => skill.name);
  return new ChassisError('InvalidParams', `there is no skill "${name}"${didYouMean(name, names)}`, {
    data: { fix: `use one of ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}` },
  });
}

async function whole({ name, folder }: Skill): Promise<Json> {
  const { body, compatibility } = await readSkill(folder);
  const files = await filesOf(folder);
  return {
    name,
    content: body,
    folder,
    files: files.slice(0, FILES),
    ...(files.length > FILES ? { more_files: files.length - FILES } : {}),
    ...(compatibility === undefined ? {} : { compatibility }),
    digest: await contentDigest(folder),
  };
}

async function part({ name, folder }: Skill, file: string): Promise<Json> {
  const root = await realpath(folder);
  const path = await realpath(resolve(root, file)).catch(() => undefined);
  const outside = relative(root, path ?? resolve(root, file));
  if (outside === '' || outside === '..' || outside.startsWith(`..${sep}`))
    throw new ChassisError('PermissionDenied', `${file} is not within the folder of the skill ${name}`);
  if (path === undefined) {
    const files = await filesOf(folder);
    throw new ChassisError(
      'InvalidParams',
      `the skill ${name} has no file ${file}${didYouMean(file, files)}`,
      {
        data: {
          fix: files.length === 0 ? 'it has no other files' : `use one of ${files.slice(0, 20).join(', ')}`,
        },
      },
    );
  }
  return { name, file, content: await readText(path) };
}
