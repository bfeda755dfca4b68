import { expect, test } from 'vitest';
import { lastError, placeInStack } from './stack-place.ts';

const withStack = (stack: string) => Object.assign(new Error('x'), { stack });

test('the innermost frame inside the folder is the place', () => {
  const stack = `Error: x
    at lib (file:///elsewhere/lib.js:1:1)
    at Object.on_load (file:///p/my%20plugin/src/a.ts?digest=0f3a:12:34)
    at load (file:///p/my%20plugin/index.ts?digest=0f3a:5:6)`;
  expect(placeInStack(withStack(stack), '/p/my plugin')).toBe('/p/my plugin/src/a.ts:12:34');
});

test('a syntax error names its line and the mark below it', () => {
  expect(
    placeInStack(withStack('/p/index.ts:2\nlet a;\nconst const = 1;\n      ^^^^^\n\nSyntaxError: no'), '/p'),
  ).toBe('/p/index.ts:2:7');
  expect(
    placeInStack(withStack('file:///p/index.mjs?digest=ab:3\nconst const\n\nSyntaxError: no'), '/p'),
  ).toBe('/p/index.mjs:3');
});

test('an error from elsewhere has no place in the plugin', () => {
  expect(placeInStack(withStack('Error: x\n    at file:///q/index.mjs:1:1'), '/p')).toBeUndefined();
  expect(placeInStack('text', '/p')).toBeUndefined();
});

test('the last words of a process are its error, with the place in its own code', () => {
  const python = 'Traceback (most recent call last):\n  File "/p/main.py", line 3, in <module>\n    go()\n';
  expect(lastError(`${python}  File "/usr/lib/x.py", line 9, in go\nValueError: no\n`, '/p')).toBe(
    'ValueError: no (main.py:3)',
  );
  expect(
    lastError(`  File "/p/main.py", line 8\n    def f(\n         ^\nSyntaxError: '(' was never closed`, '/p'),
  ).toBe("SyntaxError: '(' was never closed (main.py:8)");
  expect(
    lastError(
      'file:///p/a.mjs:3\nlet let\n    ^^^\n\nSyntaxError: no\n    at x (node:y:1:2)\n\nNode.js v24',
      '/p',
    ),
  ).toBe('SyntaxError: no (a.mjs:3)');
  expect(lastError('fatal: cannot open store', '/p')).toBe('fatal: cannot open store');
});
