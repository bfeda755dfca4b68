/** `chassis plugin test`: the conformance kit against a real plugin, with its block of the configuration. */
import { resolve } from 'node:path';
import { ExitCode } from '@chassis/errors';
import { testPlugin } from '@chassis/runtime';
import type { JsonObject } from '@chassis/types';
import { usage } from '../failure.ts';
import { pluginFolder } from '../plugin-folder.ts';
import { mark } from '../present/mark.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';
import { trustedFolder } from '../trust-question.ts';

interface Options {
  readonly call?: readonly string[];
  readonly with?: string;
}

export async function pluginTest({ args, options, globals, out }: Call<Options>): Promise<Ending> {
  const [path = ''] = args;
  const project = await projectOf(globals);
  const folder = pluginFolder(path, globals.cwd, project);
  if (!(await trustedFolder(folder, project, globals)))
    throw usage(
      `${path}: nothing of it was run, because it needs your trust: look at it, then say yes with --trust`,
    );
  const entry = project.catalogue.entries.find((one) => resolve(one.folder) === folder);
  const beside = (options.with?.split(',') ?? []).map((one) => resolve(globals.cwd, one));
  const { plugin, ok, checks } = await testPlugin(folder, {
    inputs: inputsOf(options.call ?? []),
    beside,
    secrets: project.config.secrets,
    ...(entry === undefined || Object.keys(entry.block.config).length === 0
      ? {}
      : { config: entry.block.config }),
  });
  for (const { name, ok: holds, detail } of checks) {
    out.line(`${mark(holds ? 'ok' : 'failed')} ${visible(name)}`);
    for (const line of detail?.split('\n') ?? []) out.line(`    ${visible(line)}`);
    out.record({ type: 'check', name, ok: holds, detail });
  }
  const failed = checks.filter((check) => !check.ok).length;
  out.line(
    ok
      ? `${visible(plugin ?? path)} keeps what the harness relies on: ${checks.length} checks`
      : `${failed} of ${checks.length} checks failed`,
  );
  return {
    exit: ok ? ExitCode.ok : ExitCode.failed,
    result: { plugin, folder, checks: checks.length, failed },
  };
}

/** `TOOL=JSON` */
function inputsOf(given: readonly string[]): Record<string, JsonObject> {
  return Object.fromEntries(
    given.map((text) => {
      const equals = text.indexOf('=');
      const wrong = usage(`--call ${text}: expected TOOL=JSON with an object, such as 'fetch={"page":1}'`);
      if (equals < 1) throw wrong;
      try {
        const input: unknown = JSON.parse(text.slice(equals + 1));
        if (typeof input !== 'object' || input === null || Array.isArray(input)) throw wrong;
        return [text.slice(0, equals), input as JsonObject];
      } catch {
        throw wrong;
      }
    }),
  );
}
