/**
 * The check of a test's file.
 *
 * When the packages are packed, the code that the schema compiles to takes this file's place (scripts/compiled-checks.ts): a run of
 * tests then does not load the compiler.
 */
import { type Check, compileSchema } from '@chassis/schema';
import { SPEC_SCHEMA } from './spec-schema.ts';

export const checkSpec: Check = (value) => compileSchema(SPEC_SCHEMA, { trusted: true })(value);
