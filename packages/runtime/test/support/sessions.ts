/** Sessions for tests: a real gate, a store in memory or on disk, fakes for models, tools and the agent. */
import { type Event, memoryStore, Secrets, type Store } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { type NewSession, Session, type SessionSettings, type Surroundings } from '../../src/index.ts';
import { type Fakes, fakeRegistry } from './fake-registry.ts';

export interface TestOptions extends Fakes {
  readonly store?: Store;
  readonly secrets?: Secrets;
  readonly approver?: Surroundings['approver'];
  readonly settings?: Partial<SessionSettings>;
  readonly agentSettings?: JsonObject;
  readonly system?: string;
  readonly model?: string;
  readonly fallbacks?: readonly string[];
}

export function surroundings(options: TestOptions): Surroundings & { readonly events: Event[] } {
  const events: Event[] = [];
  const secrets = options.secrets ?? new Secrets();
  return {
    store: options.store ?? memoryStore({ secrets }),
    registry: fakeRegistry(options),
    secrets,
    secret: async (name) => `value of ${name}`,
    onEvent: (event) => void events.push(event),
    events,
    ...(options.approver === undefined ? {} : { approver: options.approver }),
  };
}

export function newSession(options: TestOptions): NewSession {
  return {
    title: 'test',
    workspace: '/nowhere',
    project: '/nowhere',
    chassis: '0.1.0',
    agent: 'default',
    model: { name: options.model ?? 'p', fallbacks: options.fallbacks ?? [], params: {} },
    settings: {
      agent: {
        settings: options.agentSettings ?? {},
        ...(options.system === undefined ? {} : { system: options.system }),
      },
      limits: { steps: 200 },
      retry: { attempts: 3, base_ms: 1 },
      approval: {},
      tools: {},
      model_timeout_ms: 10_000,
      ...options.settings,
    },
  };
}

export async function openSession(options: TestOptions) {
  const around = surroundings(options);
  const session = await Session.create(around, newSession(options));
  return { around, session, events: around.events };
}
