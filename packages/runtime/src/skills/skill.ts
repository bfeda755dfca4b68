/**
 * A skill: a folder with a `SKILL.md`, whose front matter says what it is for and whose text says how it is done.
 *
 * Promise: reading one runs nothing. What the front matter lacks is an error with file, line and column; keys that this version
 * does not know are left alone, for skills are written for many harnesses. What a skill says of tools grants none.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ChassisError, fileProblem } from '@chassis/errors';
import { checkDocument, compileSchema, invalid, parseDocument } from '@chassis/schema';

export const SKILL_FILE = 'SKILL.md';

/** Of a `SKILL.md`, in bytes: what a model is given at once. */
const MAX_BYTES = 256 * 1024;

export type SkillOrigin = 'config' | 'project' | 'user' | 'plugin';

export interface Skill {
  /** What a model calls it; `PLUGIN/NAME` where two plugins bring one of the same name. */
  readonly name: string;
  /** When it is to be used, for the model. */
  readonly description: string;
  /** Absolute. */
  readonly folder: string;
  readonly origin: SkillOrigin;
  /** The plugin that brings it. */
  readonly plugin?: string;
}

export interface SkillText {
  readonly name: string;
  readonly description: string;
  /** What it needs around it, if it says so. */
  readonly compatibility?: string;
  /** Everything behind the front matter. */
  readonly body: string;
}

const FRONT_MATTER = {
  type: 'object',
  required: ['name', 'description'],
  properties: {
    name: {
      type: 'string',
      pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
      maxLength: 64,
      description: 'a name of a skill: a-z, 0-9 and single hyphens',
    },
    description: { type: 'string', minLength: 1, maxLength: 1024, description: 'when to use it' },
    compatibility: { type: 'string', maxLength: 500 },
  },
};

let check: ReturnType<typeof compileSchema> | undefined;

/** @throws InvalidParams with every problem, each as `file:line:column` */
export async function readSkill(folder: string): Promise<SkillText> {
  const file = join(folder, SKILL_FILE);
  return parseSkill(await readText(file), file);
}

/** @throws InvalidParams with every problem, each as `file:line:column` */
export function parseSkill(text: string, file: string): SkillText {
  const source = text.replace(/^\uFEFF/, '');
  const found = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(source);
  if (found === null || found.index !== 0)
    throw invalid([
      {
        path: '',
        file,
        line: 1,
        column: 1,
        message: 'a skill begins with a line ---, then name: and description:, then a line ---',
      },
    ]);
  // The line of the first --- stays as an empty one, so that places are those of the file.
  const document = parseDocument(`\n${found[1] ?? ''}`, file);
  check ??= compileSchema(FRONT_MATTER, { trusted: true });
  const issues = checkDocument(document, check);
  if (issues.length > 0) throw invalid(issues);
  const { name, description, compatibility } = document.value as Omit<SkillText, 'body'>;
  const body = source.slice(found[0].length).trim();
  return { name, description, ...(compatibility === undefined ? {} : { compatibility }), body };
}

/**
 * A file of a skill as text.
 *
 * @throws InvalidParams when it cannot be read, is larger than a model is given at once, or is no text
 */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new ChassisError('InvalidParams', `${file}: cannot be read: ${fileProblem(cause)}`, { cause });
  });
  if (bytes.length > MAX_BYTES)
    throw new ChassisError(
      'InvalidParams',
      `${file}: ${bytes.length} bytes are more than the ${MAX_BYTES} that a skill gives at once`,
      { data: { fix: 'split it into files that the skill names' } },
    );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ChassisError('InvalidParams', `${file}: the file is no UTF-8 text`, { cause });
  }
}

/** Paths of everything but `SKILL.md`, sorted; hidden files and links are left out. */
export async function filesOf(folder: string): Promise<string[]> {
  const items = await readdir(folder, { withFileTypes: true, recursive: true });
  return items
    .filter((item) => item.isFile())
    .map((item) => relative(folder, join(item.parentPath, item.name)))
    .filter((path) => path !== SKILL_FILE && !path.split(sep).some(isLeftOut))
    .sort();
}

function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules' || name === '__pycache__';
}
