/**
 * Puts compiled code in the place of a module that compiles schemas, so that whoever starts a published package does not.
 *
 * The code comes from the same compiler with the same options, so that checks and their messages are the same.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import standaloneOf from 'ajv/dist/standalone/index.js';
import { standaloneCompiler } from '../packages/schema/src/validate.ts';

/** @param module compiled JavaScript with these checks as its exports; it is replaced */
export function compileChecks(module: string, schemas: Readonly<Record<string, object>>): void {
  const names = Object.keys(schemas);
  const known = [...readFileSync(module, 'utf8').matchAll(/export const (\w+)/g)].map(([, name]) => name);
  if (known.length !== names.length || names.some((name) => !known.includes(name)))
    throw new Error(`${module} exports ${known.join(', ')}, not ${names.join(', ')}`);
  const ajv = standaloneCompiler();
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name);
  // ajv-standalone's default export is the module itself under nodenext.
  const standalone = standaloneOf as unknown as (ajv: unknown, names: object) => string;
  const code = standalone(ajv, Object.fromEntries(names.map((name) => [`${name}Validator`, name])))
    // Even as an ES module it asks for its helpers by require.
    .replace(
      /const (\w+) = require\("([^"]+)"\)\.default;/g,
      (_all, name, path) =>
        `import ${name}_ from "${path}.js";\nconst ${name} = ${name}_.default ?? ${name}_;`,
    );
  if (code.includes('require(')) throw new Error(`${module}: compiled checks need a module by require`);
  writeFileSync(
    module,
    `import { checkOf } from '@chassis/schema';\n${code}\n${names
      .map((name) => `export const ${name} = checkOf(${name}Validator);`)
      .join('\n')}\n`,
  );
}
