/**
 * Recorded sessions inside another test runner: Vitest, Jest, `node:test`.
 *
 *     for (const { name, check } of await agentTests('tests/agents')) test(name, check);
 */
import { execFile } from 'node:child_process';
import { ChassisError } from '@chassis/errors';
import type { TestResult } from './run-test.ts';

export interface AgentTest {
  readonly name: string;
  readonly file: string;
  /** @throws an Error that lists every failed expectation */
  check(): void;
}

export interface AgentTestOptions {
  /** The command, as an argv; `npx chassis` without it. */
  readonly command?: readonly [string, ...string[]];
  readonly cwd?: string;
}

/** Runs the sessions of a folder once, and answers one test for each. @throws Unavailable when the command itself fails */
export async function agentTests(
  folder: string,
  options: AgentTestOptions = {},
): Promise<readonly AgentTest[]> {
  const [program, ...first] = options.command ?? ['npx', 'chassis'];
  const output = await new Promise<string>((resolve, reject) => {
    execFile(
      program,
      [...first, 'test', 'run', folder, '--json'],
      { cwd: options.cwd ?? process.cwd(), maxBuffer: 1 << 28 },
      (error, stdout, stderr) => {
        // Exit 1 means failed tests, which are what this is about.
        if (error === null || error.code === 1) resolve(stdout);
        else
          reject(
            new ChassisError(
              'Unavailable',
              `chassis test run ${folder} failed: ${stderr.trim() || error.message}`,
              {
                cause: error,
              },
            ),
          );
      },
    );
  });
  const last = JSON.parse(output.trimEnd().split('\n').at(-1) ?? 'null') as {
    tests?: readonly TestResult[];
  } | null;
  return (last?.tests ?? []).map(({ name, file, failures }) => ({
    name,
    file,
    check() {
      if (failures.length === 0) return;
      throw new Error(
        failures
          .map(({ path, message, expected, actual }) =>
            [
              `${path}: ${message}`,
              `  expected ${JSON.stringify(expected)}`,
              `  actual   ${JSON.stringify(actual)}`,
            ].join('\n'),
          )
          .join('\n'),
      );
    },
  }));
}
