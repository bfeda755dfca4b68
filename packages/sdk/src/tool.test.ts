import { ErrorCode } from '@chassis/errors';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { definePlugin, defineTool, type FromSchema, handlersOf, type InvokeContext } from './index.ts';
import type { StandardSchema } from './standard-schema.ts';

const ctx = {} as InvokeContext;

describe('a tool with a schema of a library', () => {
  const page = defineTool({
    input: z.object({ size: z.int().default(10), tag: z.string().optional() }),
    output: z.object({ rows: z.array(z.number()), at: z.date().transform((date) => date.toISOString()) }),
    run: ({ size, tag }) => {
      expectTypeOf(size).toEqualTypeOf<number>();
      expectTypeOf(tag).toEqualTypeOf<string | undefined>();
      return { rows: Array.from({ length: size }, (_, k) => k), at: new Date(0) };
    },
  });

  test('gets its input with defaults filled in, and its output converted', async () => {
    expect(await page({ size: 2 }, ctx)).toEqual({ rows: [0, 1], at: '1970-01-01T00:00:00.000Z' });
    expect((await page({}, ctx)).rows).toHaveLength(10);
    // @ts-expect-error the input's type is known
    await expect(page({ size: 'two' }, ctx)).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
      data: { issues: [{ path: '/size' }] },
    });
  });

  test('says its shape as JSON Schema: what callers may give', () => {
    const shape = defineTool({
      input: z.object({ size: z.int().min(1).default(10), tag: z.string().describe('which') }),
      run: () => null,
    }).shape;
    expect(shape).toMatchObject({
      input: {
        type: 'object',
        properties: { size: { type: 'integer', minimum: 1, default: 10 }, tag: { description: 'which' } },
        required: ['tag'],
      },
    });
    expect(shape.input).not.toHaveProperty('$schema');
    expect(shape).not.toHaveProperty('output');
  });

  test('that gives a wrong result is stopped, with the place', async () => {
    const broken = defineTool({
      input: z.object({}),
      output: z.object({ rows: z.array(z.object({ 'a/b': z.number() })) }),
      run: () => ({ rows: [{ 'a/b': 'x' as unknown as number }] }),
    });
    await expect(broken({}, ctx)).rejects.toMatchObject({
      code: ErrorCode.InvalidOutput,
      data: { issues: [{ path: '/rows/0/a~1b' }] },
    });
  });

  test('takes any library that keeps to the interface, also one that knows no JSON Schema', async () => {
    const even: StandardSchema<{ n: number }, { half: number }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async (value) => {
          const { n } = value as { n: number };
          return n % 2 === 0 ? { value: { half: n / 2 } } : { issues: [{ message: 'odd', path: ['n'] }] };
        },
      },
    };
    const half = defineTool({ input: even, run: (input) => input.half });
    expect(half.shape).toEqual({});
    expect(await half({ n: 4 }, ctx)).toBe(2);
    await expect(half({ n: 3 }, ctx)).rejects.toThrow('the arguments at /n: odd');
  });
});

describe('a tool with a JSON Schema', () => {
  const fetch = defineTool({
    input: {
      type: 'object',
      properties: {
        page: { type: 'integer' },
        sort: { enum: ['up', 'down'] },
        filter: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        ids: { type: 'array', items: { type: ['string', 'number'] } },
      },
      required: ['page', 'filter'],
    },
    run: (input) => {
      expectTypeOf(input).toEqualTypeOf<{
        page: number;
        filter: string | null;
        sort?: 'up' | 'down';
        ids?: (string | number)[];
      }>();
      return input.page;
    },
  });

  test('has the types that the schema says, and keeps the schema as it is', async () => {
    expect(await fetch({ page: 3, filter: null }, ctx)).toBe(3);
    expect(fetch.shape.input).toMatchObject({ required: ['page', 'filter'] });
    expectTypeOf<FromSchema<{ type: 'object' }>>().toEqualTypeOf<Record<string, unknown>>();
  });

  test('must be about an object, because arguments have names', () => {
    expect(() => defineTool({ input: { type: 'string' }, run: () => null })).toThrow(
      'must be of type object',
    );
    expect(() => defineTool({ input: z.string(), run: () => null })).toThrow('must be of type object');
    expect(() => defineTool({ input: z.object({ at: z.date() }), run: () => null })).toThrow(
      'the input schema cannot be written as JSON Schema',
    );
  });
});

test('a plugin hands the shapes of its tools over; plain functions have none', () => {
  const plugin = definePlugin({
    tools: { plain: () => 1, shaped: defineTool({ input: z.object({}), run: () => 1 }) },
  });
  expect(Object.keys(handlersOf(plugin).shapes)).toEqual(['shaped']);
});
