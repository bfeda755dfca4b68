// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the configuration are the subject
import { describe, expect, test } from 'vitest';
import { inlineManifest, projectFolder } from '../testing/project-folder.ts';
import { configLines } from './project.ts';

describe('the configuration', () => {
  test('is layered, the later wins, and every value knows its origin', async () => {
    using folder = projectFolder({
      'home/.config/chassis/config.yaml': 'model: ollama\nlimits: { steps: 10, tokens: 500 }\n',
      'chassis.yaml':
        'agent: reviewer\nlimits:\n  steps: 20\nplugins:\n  paths: [more]\n  db: { config: { url: "${env:DB}" } }\n',
      'more/db/plugin.yaml':
        'name: db\nversion: 1.0.0\ndescription: d\nruntime: inline\nmodule: ./index.mjs\n',
    });
    const project = await folder.open({
      env: {
        CHASSIS_LIMITS__MINUTES: '5',
        CHASSIS_PLUGINS__DB__ENABLED: 'false',
        CHASSIS_STORE: 'elsewhere',
      },
      overrides: ['model=["deepseek","ollama"]', 'limits.steps=30'],
    });
    expect(project.config).toMatchObject({
      agent: { use: 'reviewer', settings: {} },
      model: { use: ['deepseek', 'ollama'] },
      workspace: folder.root,
      limits: { steps: 30, tokens: 500, minutes: 5 },
      retry: { attempts: 4, base_ms: 500 },
      plugins: { paths: [`${folder.root}/more`], npm: [] },
    });
    expect(project.config.plugins.blocks.db?.enabled).toBe(false);
    const origins = Object.fromEntries(configLines(project).map((line) => [line.key, line.origin]));
    expect(origins).toMatchObject({
      'agent.use': `${folder.root}/chassis.yaml:1:8`,
      'model.use': '--config model',
      'limits.steps': '--config limits.steps',
      'limits.tokens': `${folder.root}/home/.config/chassis/config.yaml:2:30`,
      'limits.minutes': 'CHASSIS_LIMITS__MINUTES',
      'retry.attempts': 'default',
    });
    expect(configLines(project).find((line) => line.key === 'plugins.db.config.url')?.value).toBe(
      '${env:DB}',
    );
  });

  test.each([
    ['limits:\n  stesp: 5', 'chassis.yaml:2:3: unknown key "stesp"; did you mean "steps"?'],
    ['limits: { steps: many }', 'chassis.yaml:1:18: expected a whole number, found a string ("many")'],
    ['modell: x', 'chassis.yaml:1:1: unknown key "modell"; did you mean "model"?'],
    ['plugins: { Bad_Name: {} }', '"Bad_Name" is no valid key here'],
    ['secrets: { A: { env: X, file: y } }', 'chassis.yaml:1:15'],
    ['a: [', 'chassis.yaml:1:5'],
  ])('is refused with its place: %j', async (text, expected) => {
    using folder = projectFolder({ 'chassis.yaml': text });
    await expect(folder.open()).rejects.toThrow(expected);
  });

  test.each([
    [['limits.stesp=5'], '--config limits.stesp: unknown key "stesp"; did you mean "steps"?'],
    [['limits.steps=x'], '--config limits.steps: expected a whole number'],
    [['=5'], 'expected KEY=VALUE'],
    [['steps'], 'expected KEY=VALUE'],
  ])('an override is refused by name: %j', async (overrides, expected) => {
    using folder = projectFolder({});
    await expect(folder.open({ overrides })).rejects.toThrow(expected);
  });

  test('an override whose text only looks like JSON stays text where text is meant', async () => {
    using folder = projectFolder({});
    const project = await folder.open({ overrides: ['agent.system=5'] });
    expect(project.config.agent.system).toBe('5');
  });

  test('is found upwards from a folder inside the project', async () => {
    using folder = projectFolder({ 'a/b/file.txt': '' });
    const project = await folder.open({ cwd: `${folder.root}/a/b` });
    expect(project.root).toBe(folder.root);
  });

  test('a rule for a tool that no plugin has is an error with its place and the nearest name', async () => {
    const manifest = inlineManifest(
      'shell',
      'tools: [{ name: run_command, description: d, input: { type: object } }]',
    );
    using folder = projectFolder({
      'chassis.yaml':
        'tools:\n  deny: [run_comand, "run_*", plugin.shell.run_command]\n  approval: { nope: ask }\n',
      'plugins/shell/plugin.yaml': manifest,
    });
    const refused = folder.open();
    await expect(refused).rejects.toThrow(
      `${folder.root}/chassis.yaml:2:10: there is no tool run_comand; did you mean "run_command"?`,
    );
    await expect(refused).rejects.toThrow(`${folder.root}/chassis.yaml:3:21: there is no tool nope`);
  });

  test("a setting that the agent's manifest does not take is an error before anything runs", async () => {
    const settings =
      'settings: { type: object, additionalProperties: false, properties: { depth: { type: integer } } }';
    using folder = projectFolder({
      'chassis.yaml': 'agent:\n  use: deep\n  settings: { depth: x, dept: 1 }\n',
      'plugins/deep/plugin.yaml': inlineManifest('deep', `agents: [{ name: deep, ${settings} }]`),
    });
    const refused = folder.open();
    await expect(refused).rejects.toThrow(`${folder.root}/chassis.yaml:3:22: agent.settings.depth: `);
    await expect(refused).rejects.toThrow('did you mean "depth"?');
  });
});
