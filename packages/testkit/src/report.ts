/** Results in the forms that other programs read: TAP 14, JUnit XML, annotations of GitHub Actions, and plain text. */
import type { Failure } from './check.ts';
import type { TestResult } from './run-test.ts';

export type Reporter = 'text' | 'tap' | 'junit' | 'github';
export const reporters: readonly Reporter[] = ['text', 'tap', 'junit', 'github'];

export function reportTests(results: readonly TestResult[], reporter: Reporter): readonly string[] {
  switch (reporter) {
    case 'text':
      return text(results);
    case 'tap':
      return tap(results);
    case 'junit':
      return junit(results);
    case 'github':
      return github(results);
  }
}

function text(results: readonly TestResult[]): string[] {
  const failed = results.filter(({ ok }) => !ok).length;
  return [
    ...results.flatMap(({ name, ok, failures, steps }) => [
      `${ok ? 'passed' : 'FAILED'} ${line(name)} (${steps} steps)`,
      ...failures.flatMap((failure) => details(failure).map((detail) => `  ${detail}`)),
    ]),
    `${results.length - failed} passed, ${failed} failed`,
  ];
}

function tap(results: readonly TestResult[]): string[] {
  const escaped = (name: string) => line(name).replace(/[\\#]/g, '\\$&');
  return [
    'TAP version 14',
    `1..${results.length}`,
    ...results.flatMap(({ name, ok, failures }, at) => [
      `${ok ? 'ok' : 'not ok'} ${at + 1} - ${escaped(name)}`,
      ...(failures.length === 0
        ? []
        : [
            '  ---',
            `  message: ${JSON.stringify(failures.map(({ message }) => message).join('\n'))}`,
            '  failures:',
            ...failures.map((failure) => `    - ${JSON.stringify(failure)}`),
            '  ...',
          ]),
    ]),
  ];
}

function junit(results: readonly TestResult[]): string[] {
  const failed = results.filter(({ ok }) => !ok).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${results.length}" failures="${failed}">`,
    `  <testsuite name="chassis" tests="${results.length}" failures="${failed}">`,
    ...results.flatMap(({ name, file, ok, failures }) => {
      const head = `    <testcase name="${xml(name)}" classname="chassis" file="${xml(file)}"`;
      if (ok) return [`${head}/>`];
      const body = failures.flatMap(details).join('\n');
      return [
        `${head}>`,
        `      <failure message="${xml(failures[0]?.message ?? '')}">${xml(body)}</failure>`,
        '    </testcase>',
      ];
    }),
    '  </testsuite>',
    '</testsuites>',
  ];
}

/** https://docs.github.com/actions/reference/workflow-commands: `%`, CR and LF are escaped, in properties `:` and `,` too. */
function github(results: readonly TestResult[]): string[] {
  const data = (value: string) =>
    multiline(value).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (value: string) => data(value).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return results.flatMap(({ name, file, failures }) =>
    failures.map(
      (failure) =>
        `::error file=${property(file)},title=${property(name)}::${data(details(failure).join('\n'))}`,
    ),
  );
}

function details({ path, message, expected, actual }: Failure): string[] {
  if (expected === null && actual === null) return [`${line(path)}: ${line(message)}`];
  return [
    `${line(path)}: ${line(message)}`,
    `  expected ${line(JSON.stringify(expected))}`,
    `  actual   ${line(JSON.stringify(actual))}`,
  ];
}

/** One line without control characters: a recorded text steers neither a terminal nor a parser. */
function line(value: string): string {
  return multiline(value).replace(/[\t\r\n\u2028\u2029]/g, ' ');
}

/** Without characters that steer something, or that a file of text (or XML 1.0) has no place for. */
function multiline(value: string): string {
  return value.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, (sign) => (/[\t\r\n]/.test(sign) ? sign : '\ufffd'));
}

function xml(value: string): string {
  return multiline(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
