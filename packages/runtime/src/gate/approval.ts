/**
 * Who may let a tool run.
 *
 * Promise: an approval is bound to the tool's definition, the exact arguments and the policy in force, is used once, and
 * both question and answer are on record before the tool starts.
 */
import { ChassisError } from '@chassis/errors';
import { digestOf, type Writer } from '@chassis/journal';
import type { Json, PluginRef } from '@chassis/types';
import type { ToolBinding } from '../capability.ts';
import { CHASSIS_VERSION } from '../version.ts';
import type { Verdict } from './policies.ts';

export type ApprovalMode = 'auto' | 'ask' | 'never';

export interface ApprovalRequest {
  readonly id: string;
  readonly session: string;
  readonly step: number;
  readonly tool: string;
  readonly plugin: string;
  readonly description: string;
  readonly input: Json;
  readonly reason: string;
}

/** A person, or something that answers for one. */
export interface Approver {
  ask(
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<{ decision: 'allow' | 'deny'; by: string; reason?: string }>;
}

/** Without a person, nothing that needs one is allowed. */
export const nobody: Approver = {
  ask: async () => ({ decision: 'deny', by: 'nobody', reason: 'there is nobody to ask' }),
};

export class Approvals {
  readonly #writer: Writer;
  readonly #approver: Approver;
  readonly #modes: { readonly [tool: string]: ApprovalMode };

  constructor(writer: Writer, approver: Approver, modes: { readonly [tool: string]: ApprovalMode }) {
    this.#writer = writer;
    this.#approver = approver;
    this.#modes = modes;
  }

  /** What holds for a tool without policies: the project's word, else the plugin's. */
  modeOf(binding: ToolBinding): ApprovalMode {
    return this.#modes[binding.name] ?? binding.definition.approval;
  }

  /**
   * @param verdict what the policies say; their yes spares a question that the project itself does not want
   * @throws PermissionDenied or ApprovalDenied
   */
  async admit(
    binding: ToolBinding,
    input: Json,
    step: number,
    signal: AbortSignal,
    verdict?: Verdict,
  ): Promise<void> {
    const mode = this.modeOf(binding);
    if (mode !== 'never' && verdict !== undefined) {
      if (verdict.decision === 'ask')
        return this.confirm(binding, input, step, signal, `${verdict.by} asks: ${verdict.reason}`);
      this.judge(binding, input, step, verdict);
      if (verdict.decision === 'allow' && this.#modes[binding.name] !== 'ask') return;
    }
    if (mode === 'auto') return;
    if (mode === 'never')
      throw new ChassisError('PermissionDenied', `the tool ${binding.name} is not allowed to run here`, {
        data: { tool: binding.name, fix: `set tools.approval.${binding.name} to ask or auto` },
      });
    await this.confirm(binding, input, step, signal, `${binding.name} asks before it runs`);
  }

  /** Writes down what policies decided. @throws PermissionDenied for a no */
  judge(binding: ToolBinding, input: Json, step: number, verdict: Verdict): void {
    const { decision, by, reason } = verdict;
    if (decision === 'ask') return;
    const id = this.#nextId(step);
    this.#writer.append(
      'approval.requested',
      {
        id,
        tool: binding.name,
        plugin: binding.plugin,
        input,
        digest: this.#digest(binding, input),
        reason: `policy ${by}`,
      },
      step,
    );
    this.#writer.append(
      'approval.resolved',
      { id, decision, by: `policy ${by}`, ...(reason === '' ? {} : { reason }) },
      step,
    );
    if (decision === 'allow') return;
    throw new ChassisError(
      'PermissionDenied',
      `the policy ${by} does not allow this call of ${binding.name}${reason === '' ? '' : `: ${reason}`}`,
      { data: { tool: binding.name, by: `policy ${by}` } },
    );
  }

  /** Asks for exactly this call. */
  async confirm(
    binding: ToolBinding,
    input: Json,
    step: number,
    signal: AbortSignal,
    reason: string,
  ): Promise<void> {
    const digest = this.#digest(binding, input);
    const { name: tool, plugin } = binding;
    const { description } = binding.definition;
    const answer = await this.#ask({ tool, plugin, description, input, digest, reason, step }, signal);
    if (answer.decision === 'allow') return;
    throw new ChassisError(
      'ApprovalDenied',
      `${binding.name} was not approved: ${answer.reason ?? `denied by ${answer.by}`}`,
      {
        data: {
          tool: binding.name,
          by: answer.by,
          fix: `approve it, or set tools.approval.${binding.name} to auto`,
        },
      },
    );
  }

  /** Asks whether a run that should stop may go on. @throws the reason it should stop for, with who refused */
  async goOn(stop: ChassisError, step: number, signal: AbortSignal): Promise<void> {
    const answer = await this.#ask(
      {
        tool: 'go on',
        plugin: { name: 'chassis', version: CHASSIS_VERSION, digest: '' },
        description: 'Lets the run go on; without it the run ends here.',
        input: stop.data as Json,
        digest: digestOf(stop.data as Json),
        reason: `${stop.message}. Go on?`,
        step,
      },
      signal,
    );
    if (answer.decision === 'allow') return;
    throw new ChassisError(stop.code, stop.message, { data: { ...(stop.data as object), by: answer.by } });
  }

  #digest(binding: ToolBinding, input: Json): string {
    return digestOf({
      definition: binding.definition as unknown as Json,
      plugin: binding.plugin as unknown as Json,
      policy: this.#modes,
      input,
    });
  }

  #nextId(step: number): string {
    return `${step}.${this.#writer.view.approvals.length + 1}`;
  }

  /** Question and answer, both on record. */
  async #ask(
    { plugin, digest, step, description, ...question }: Question,
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<Approver['ask']>>> {
    const id = this.#nextId(step);
    this.#writer.append('approval.requested', { id, plugin, digest, ...question }, step);
    await this.#writer.barrier();
    const answer = await this.#approver.ask(
      { id, session: this.#writer.id, step, plugin: plugin.name, description, ...question },
      signal,
    );
    this.#writer.append('approval.resolved', { id, ...answer }, step);
    return answer;
  }
}

interface Question extends Omit<ApprovalRequest, 'id' | 'session' | 'plugin'> {
  readonly plugin: PluginRef;
  readonly digest: string;
}
