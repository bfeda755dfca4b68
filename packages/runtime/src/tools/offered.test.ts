import type { JsonObject } from '@chassis/types';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolBinding } from '../capability.ts';
import { TOOL_SEARCH } from '../plugin/names.ts';
import { withFound } from './found.ts';
import { offeredTools } from './offered.ts';
import { rank, specOf, toolSearch } from './search.ts';

function tool(
  plugin: string,
  name: string,
  description = name,
  input: JsonObject = { type: 'object' },
): ToolBinding {
  return {
    name,
    plugin: { name: plugin, version: '1.0.0', digest: '' },
    definition: { ...toolSearch, name, description, input },
    invoke: async () => ({ code: 0, data: null, error: null, trace_id: '' }),
  };
}

const search = tool('chassis', TOOL_SEARCH, toolSearch.description, toolSearch.input);
const small = [tool('files', 'read_file', 'Reads a file.'), tool('files', 'write_file', 'Writes a file.')];
const jira = Array.from({ length: 500 }, (_, k) =>
  tool('jira', `jira_${k}`, `Does the thing number ${k} in Jira.`),
);
const names = (offered: { specs: readonly { name: string }[] }) => offered.specs.map(({ name }) => name);

describe('what a turn shows to its model', () => {
  test('is everything while it fits, without the search', () => {
    expect(names(offeredTools([...small, search], ['openai'], 10_000))).toEqual(['read_file', 'write_file']);
  });

  test('leaves the longest list of a plugin to the search when it does not fit, and says how many of whom', () => {
    const offered = offeredTools([...jira, ...small, search], ['openai'], 2_000);
    expect(names(offered)).toEqual(['read_file', 'write_file', TOOL_SEARCH]);
    expect(offered.specs.at(-1)?.description).toContain('Not listed are those of jira (500).');
  });

  test('does not depend on the order of the tools', () => {
    const all = [...jira.slice(0, 60), ...small, search];
    const sorted = [...names(offeredTools(all, [], 700))].sort();
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect([...names(offeredTools(shuffled, [], 700))].sort()).toEqual(sorted);
      }),
      { numRuns: 20 },
    );
  });

  test('has no tool that a provider of any of the models would refuse, and says which and why', () => {
    const odd = tool('odd', 'choose', 'x', { type: 'object', oneOf: [{ required: ['a'] }] });
    const offered = offeredTools([...small, odd], ['scripted', 'anthropic/claude'], 10_000);
    expect(names(offered)).toEqual(['read_file', 'write_file']);
    expect(offered.quarantined).toMatchObject([
      {
        capability: 'tool.choose',
        owner: 'odd',
        cause: {
          message: expect.stringContaining(
            'not shown to anthropic/claude: its input schema has oneOf',
          ) as string,
        },
      },
    ]);
    expect(names(offeredTools([...small, odd], ['scripted'], 10_000))).toContain('choose');
  });
});

describe('a search for tools', () => {
  const specs = [
    tool('gh', 'createIssue', 'Opens an issue in a repository.'),
    tool('gh', 'list_issues', 'Issues of a repository.'),
    tool('mail', 'send_mail', 'Sends a message.', { type: 'object', properties: { recipient: {} } }),
    tool('zh', 'qi_ye', '查询企业的订单'),
  ].map(specOf);
  test.each([
    ['create issue', 'createIssue'],
    ['issues', 'list_issues'],
    ['who is the recipient', 'send_mail'],
    ['订单', 'qi_ye'],
    ['send_mail', 'send_mail'],
  ])('for "%s" finds %s first', (query, name) => {
    expect(rank(query, specs)[0]?.name).toBe(name);
  });

  test('for something that nobody does finds nothing', () => {
    expect(rank('astronomy !?', specs)).toEqual([]);
  });

  test('adds what it found to the list once, and leaves the list alone when that is nothing', () => {
    const list = [specs[0] as (typeof specs)[0]];
    const more = withFound(list, [{ tools: [specs[0], specs[1], specs[1]] } as never, null, { tools: 5 }]);
    expect(more.map(({ name }) => name)).toEqual(['createIssue', 'list_issues']);
    expect(withFound(list, [{ tools: list } as never])).toBe(list);
  });
});
