/** Small hand-made sessions for tests: a conversation is told step by step, and becomes the view that a journal would fold. */
import type { ErrorRecord } from '@chassis/errors';
import type { Attempt, SessionView, Step, Turn, ValueRead } from '@chassis/journal';
import type { Effect, Json, JsonObject, Message, ToolCall, ToolSpec, Usage } from '@chassis/types';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Call {
  readonly tool: string;
  readonly input: Json;
  /** The arguments as the model wrote them, when not the plain JSON of `input`. */
  readonly text?: string;
}

interface Answer {
  readonly output?: Json;
  readonly error?: ErrorRecord;
  readonly status?: Step['status'];
  readonly effects?: readonly Effect[];
  /** The tool message, when it is not the JSON text of the output. */
  readonly message?: string;
  readonly attempts?: readonly Attempt[];
}

/** One session in the making. Every method adds what the runtime would have recorded. */
export class Story {
  readonly steps: Mutable<Step>[] = [];
  readonly values: ValueRead[] = [];
  /** The tools that are offered in every request. */
  tools: readonly ToolSpec[] = [];
  private readonly messages: Message[] = [];
  private readonly requests = new Map<number, readonly Message[]>();
  private readonly task: string;
  private turn: Mutable<Turn>;
  private outcome: SessionView['outcome'] = 'running';
  private fresh: number[] = [];
  private seq = 1;

  constructor(task: string, system = 'You are a careful assistant.') {
    this.task = task;
    this.messages.push({ role: 'system', content: system }, { role: 'user', content: task });
    this.turn = { number: 1, input: task };
  }

  /** A model step that asks for these calls (or answers, without any). Gives the step's number. */
  model(
    calls: readonly Call[] = [],
    options: {
      content?: string;
      reasoning?: string;
      finish?: string;
      usage?: Usage | null;
      error?: ErrorRecord;
      attempts?: readonly Attempt[];
      name?: string;
    } = {},
  ): number {
    const number = this.steps.length + 1;
    this.requests.set(number, [...this.messages]);
    const tool_calls = calls.map(
      ({ tool, input, text }, index): ToolCall => ({
        id: `call_${number}_${index}`,
        name: tool,
        arguments: text ?? JSON.stringify(input),
      }),
    );
    const message = {
      role: 'assistant' as const,
      content: options.content ?? '',
      ...(options.reasoning === undefined ? {} : { reasoning: options.reasoning }),
      ...(tool_calls.length ? { tool_calls } : {}),
    };
    const usage =
      options.usage === undefined ? { input: 100, cached: 0, output: 20, reasoning: 0 } : options.usage;
    const finish = options.finish ?? (calls.length ? 'tool_calls' : 'stop');
    this.push({
      kind: 'model',
      name: options.name ?? 'scripted',
      input: { messages: this.messages.length, tools: 0, params: {} },
      causes: this.fresh,
      usage,
      ...(options.attempts ? { attempts: options.attempts } : {}),
      ...(options.error
        ? { status: 'error', error: options.error }
        : { output: { message, finish_reason: finish, usage, model: 'scripted' } as unknown as Json }),
    });
    if (!options.error) this.messages.push(message);
    this.fresh = [number];
    return number;
  }

  /** The tool step of the newest model step's call `index`; its result becomes a tool message. */
  tool(index: number, answer: Answer): number {
    const model = this.steps.findLast((step) => step.kind === 'model');
    const reply = model?.output as unknown as { message: { tool_calls: ToolCall[] } } | undefined;
    const call = reply?.message.tool_calls[index];
    if (!model || !call) throw new Error('the model asked for no such call');
    const number = this.push({
      kind: 'tool',
      name: call.name,
      input: JSON.parse(call.arguments) as Json,
      causes: [model.number],
      call_id: call.id,
      plugin: { name: call.name, version: '1.0.0', digest: 'd' },
      ...parts(answer),
    });
    const content =
      answer.message ??
      (answer.error ? `${answer.error.name}: ${answer.error.message}` : JSON.stringify(answer.output));
    this.messages.push({
      role: 'tool',
      tool_call_id: call.id,
      content,
      ...(answer.error ? { is_error: true } : {}),
    });
    if (this.fresh.includes(model.number)) this.fresh = [];
    this.fresh = [...this.fresh, number];
    return number;
  }

  /** One call and its result: a model step and a tool step. Gives the number of the tool step. */
  call(
    tool: string,
    input: Json,
    answer: Answer | Json,
    words: { content?: string; reasoning?: string } = {},
  ): number {
    this.model([{ tool, input }], words);
    return this.tool(0, isAnswer(answer) ? answer : { output: answer });
  }

  /** A step that no model asked for: the agent's own code, or a step inside of another. */
  step(step: Partial<Step> & Pick<Step, 'kind' | 'name' | 'input'>): number {
    return this.push(step);
  }

  /** A person's message begins the next turn. */
  user(content: string): void {
    this.messages.push({ role: 'user', content });
  }

  /** Replaces what the model sees from now on. */
  context(messages: (before: readonly Message[]) => readonly Message[]): void {
    this.messages.splice(0, this.messages.length, ...messages([...this.messages]));
  }

  /** Everything behind the instructions gives way to a summary. */
  compact(summary: string): void {
    this.messages.splice(1, this.messages.length - 1, { role: 'user', content: summary });
  }

  ok(content = 'Done.'): SessionView {
    this.model([], { content });
    return this.end('ok', { answer: content });
  }

  /** The run ends because of a step's failure; the last step's, unless told. */
  fail(step = this.steps.length): SessionView {
    const error = this.steps[step - 1]?.error;
    return this.end('failed', { failed_step: step, ...(error ? { error } : {}) });
  }

  end(outcome: SessionView['outcome'], turn: Partial<Turn> = {}): SessionView {
    this.outcome = outcome;
    this.turn = { ...this.turn, ...turn, ...(outcome === 'running' ? {} : { outcome }) };
    return this.view();
  }

  view(): SessionView {
    const { steps, values, turn, outcome, requests, task, tools } = this;
    return {
      header: {
        format: 'chassis.session',
        v: 1,
        id: '0190a3c2-7f3a',
        created: 0,
        chassis: '0.1.0',
        title: task,
        workspace: '/w',
        project: '/w',
        agent: { agent: 'main', name: 'default', version: '1.0.0', digest: 'd' },
        model: { name: 'scripted', fallbacks: [], params: {} },
        plugins: [],
        settings: {},
      },
      turns: [turn],
      steps,
      values,
      approvals: [],
      notes: [],
      lastSeq: this.seq,
      problems: [],
      outcome,
      step: (number) => steps[number - 1],
      request: (number) => ({ messages: requests.get(number) ?? [], tools, params: {} as JsonObject }),
    };
  }

  private push(step: Partial<Step> & Pick<Step, 'kind' | 'name' | 'input'>): number {
    const number = this.steps.length + 1;
    this.seq += 2;
    const { seq } = this;
    this.steps.push({
      digest: '',
      causes: [],
      parent: null,
      agent: 'main',
      turn: 1,
      plugin: null,
      status: 'ok',
      started: number * 1000,
      duration_ms: 10,
      attempts: [],
      effects: [],
      edits: [],
      seq: { started: seq, dispatched: seq, finished: seq + 1 },
      ...step,
      number,
    });
    // What runs inside a call has ended before the call ends.
    for (let above = step.parent ?? null; above !== null; above = this.steps[above - 1]?.parent ?? null) {
      const outer = this.steps[above - 1];
      this.seq++;
      if (outer) outer.seq = { ...outer.seq, finished: this.seq + 1 };
    }
    return number;
  }
}

/** An error as a step records it. */
export function failure(name: string, code: number, message: string, data?: unknown): ErrorRecord {
  return { code, name, message, ...(data === undefined ? {} : { data }) };
}

/** The error of a tool that refuses its arguments. */
export function invalid(...issues: { path: string; expected: string; received: string }[]): ErrorRecord {
  const first = issues[0];
  const message = `invalid arguments: ${first?.path} must be ${first?.expected}, not ${first?.received}`;
  return failure('InvalidParams', -32602, message, {
    issues: issues.map((issue) => ({ message, ...issue })),
  });
}

/** `{ output }`, `{ error }` of the error class; anything else is the output itself. */
function isAnswer(value: Answer | Json): value is Answer {
  if (typeof value !== 'object' || value === null) return false;
  const { error } = value as { error?: { code?: unknown } };
  return 'output' in value || typeof error?.code === 'number';
}

function parts(answer: Answer): Partial<Step> {
  const { output, error, effects, attempts } = answer;
  return {
    status: answer.status ?? (error ? 'error' : 'ok'),
    ...(output === undefined ? {} : { output }),
    ...(error ? { error } : {}),
    ...(effects ? { effects } : {}),
    ...(attempts ? { attempts } : {}),
  };
}
