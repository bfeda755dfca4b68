/**
 * The checks of the documents that every command reads.
 *
 * When the packages are packed, the code that these schemas compile to takes this file's place (scripts/compiled-checks.ts):
 * a start then neither compiles a schema nor loads the compiler.
 */
import { type Check, compileSchema } from '@chassis/schema';
import { MANIFEST_SCHEMA } from './plugin/manifest-schema.ts';
import { CONFIG_SCHEMA } from './project/config-schema.ts';

export const checkManifest: Check = (value) => compileSchema(MANIFEST_SCHEMA, { trusted: true })(value);
export const checkConfig: Check = (value) => compileSchema(CONFIG_SCHEMA, { trusted: true })(value);
