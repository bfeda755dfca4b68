/**
 * `runtime: mcp`: an MCP server as a plugin, over stdio or streamable HTTP, with the official client.
 *
 * Promise: the newest version that both sides speak is used, and a server that speaks none of ours is let go with the
 * version named. All pages of its tools are read, again when it says that they have changed; a tool's own error stays
 * an error, whatever else the result holds; nothing of a result is lost.
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import { type CloseReason, RpcError } from '@chassis/jsonrpc';
import { type ContextCalls, failure } from '@chassis/sdk';
import type { Json, JsonObject, Result } from '@chassis/types';
import { Client, ProtocolError, SdkError, SdkHttpError } from '@modelcontextprotocol/client';
import type { Invocation } from '../../capability.ts';
import { CHASSIS_VERSION } from '../../version.ts';
import { Callbacks } from '../callbacks.ts';
import type { Conversation } from '../conversation.ts';
import { notStarted } from '../ending.ts';
import type { Diagnostics, HostOptions, Offer } from '../host.ts';
import type { Link } from '../link.ts';
import { NO_DIAGNOSTICS } from '../network-link.ts';
import { processLink } from '../process-link.ts';
import { type Originals, offerOfServer } from './offer.ts';
import { RawResults, rawResult } from './raw-results.ts';
import { outcomeOf } from './result.ts';
import { capabilitiesOf, serveRequests } from './server-requests.ts';
import { type Carrier, overHttp, overLines } from './transports.ts';
import { agree, type Greeting, MCP_VERSIONS, negotiation, nextGreeting } from './versions.ts';

/** A server that never ends its list is not listened to for ever. */
const MAX_PAGES = 1_000;
/** The gate has deadlines; the client's own must not come first. */
const PATIENT = { timeout: 2 ** 31 - 1 } as const;

/** How servers wanted to be greeted, by digest, so that a restart does not ask again what had no answer. */
const greetings = new Map<string, Greeting>();

export async function overMcp(options: HostOptions): Promise<Conversation> {
  return new McpConversation(options);
}

class McpConversation implements Conversation {
  readonly over: Promise<CloseReason>;
  readonly #options: HostOptions;
  readonly #running = new Set<ContextCalls>();
  #tellOver: (reason: CloseReason) => void = () => {};
  #client: Client | undefined;
  #link: Link | undefined;
  #originals: Originals = new Map();
  #onOffer: ((offer: Offer) => void) | undefined;
  #listing: Promise<unknown> = Promise.resolve();
  #ending: Promise<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.over = new Promise((resolve) => {
      this.#tellOver = resolve;
    });
  }

  async load(): Promise<Offer> {
    const { entry } = this.#options;
    const key = `${entry.name} ${entry.digest}`;
    await this.#greet(greetings.get(key) ?? 'ask', key);
    const { name = '?', version = '?' } = this.#connected().getServerVersion() ?? {};
    this.#options.log(
      'debug',
      `${name} ${version} speaks MCP ${this.#connected().getNegotiatedProtocolVersion()}`,
    );
    return this.#list();
  }

  async ready() {
    // A process that has listed its tools is ready; `ping` would tell more, but many servers never answer it.
    if (this.#link !== undefined) return { ready: true };
    const client = this.#connected();
    try {
      await (client.getProtocolEra() === 'modern' ? client.discover(PATIENT) : client.ping(PATIENT));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw this.#failed(error);
    }
    return { ready: true };
  }

  async invoke(invocation: Invocation): Promise<Result> {
    const { payload, ctx, signal } = invocation;
    if (!('tool' in payload)) {
      return failure(new ChassisError('MethodNotFound', 'an MCP server has tools only'), ctx.trace_id);
    }
    const calls = new Callbacks(invocation, this.#options);
    const { name, inputSchema } = this.#originals.get(payload.tool) ?? { name: payload.tool };
    this.#running.add(calls);
    try {
      const answer = await this.#connected().callTool(
        { name, arguments: payload.input as Record<string, unknown> },
        {
          ...PATIENT,
          signal,
          onprogress: (progress) => calls.progress(progress as unknown as JsonObject),
          toolDefinition: { name, inputSchema: (inputSchema ?? { type: 'object' }) as { type: 'object' } },
        },
      );
      return { ...outcomeOf(rawResult(answer)), trace_id: ctx.trace_id };
    } catch (error) {
      // An error of the protocol is the server's answer too: an unknown tool, arguments that it does not take.
      if (error instanceof ProtocolError) {
        return failure(new RpcError(error.code, error.message, error.data), ctx.trace_id);
      }
      throw this.#failed(error);
    } finally {
      this.#running.delete(calls);
    }
  }

  async shutdown() {}

  end(): Promise<void> {
    this.#ending ??= (async () => {
      await this.#client?.close().catch(() => {});
      await this.#link?.end();
      this.#tellOver({ kind: 'closed', message: 'the harness closed the plugin' });
    })();
    return this.#ending;
  }

  onOffer(listener: (offer: Offer) => void): void {
    this.#onOffer = listener;
  }

  diagnostics(): Diagnostics {
    return this.#link?.diagnostics() ?? NO_DIAGNOSTICS;
  }

  async #greet(greeting: Greeting, key: string): Promise<void> {
    const { entry } = this.#options;
    const timeout = entry.source.manifest.deadlines.on_load_ms;
    const raw = new RawResults();
    const { carrier, link } = await this.#start(raw);
    let ended = false;
    void carrier.over.then(() => {
      ended = true;
    });
    const client = this.#newClient(negotiation(greeting, link === undefined ? timeout : timeout / 4));
    this.#client = client;
    try {
      await agree(client, carrier.transport, raw, entry.name, timeout);
    } catch (error) {
      // The end of a process is told a moment after its output has ended.
      if (error instanceof SdkError || ended) await Promise.race([carrier.over, pause(500)]);
      const next =
        this.#ending === undefined && link !== undefined
          ? nextGreeting(greeting, error, raw, ended)
          : undefined;
      if (next === undefined) {
        void carrier.over.then(this.#tellOver);
        throw this.#failed(error);
      }
      await client.close().catch(() => {});
      await link?.end();
      greetings.set(key, next);
      return this.#greet(next, key);
    }
    if (greeting === 'ask' && raw.handshake && !raw.discovered) greetings.set(key, 'old');
    void carrier.over.then(this.#tellOver);
  }

  async #start(raw: RawResults): Promise<{ readonly carrier: Carrier; readonly link?: Link }> {
    const { entry, headers, log } = this.#options;
    const { url } = entry.source.manifest;
    if (url !== undefined) return { carrier: overHttp(url, headers, raw) };
    const link = processLink(this.#options);
    this.#link = link;
    const carrier = overLines(link, raw, (line) => log('warn', line));
    if (link.started) return { carrier, link };
    await carrier.transport.start();
    throw notStarted(this.#options, await carrier.over);
  }

  #newClient(versionNegotiation: ReturnType<typeof negotiation>): Client {
    const changed = (): void => void this.#relist();
    const client = new Client(
      { name: 'chassis', version: CHASSIS_VERSION },
      {
        capabilities: capabilitiesOf(this.#options),
        supportedProtocolVersions: MCP_VERSIONS,
        versionNegotiation,
        // Results are checked at the gate, with numbers as they were written.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
        listChanged: { tools: { autoRefresh: false, debounceMs: 50, onChanged: changed } },
      },
    );
    client.onerror = (error) => this.#options.log('debug', error.message);
    serveRequests(client, this.#options, () => [...this.#running]);
    return client;
  }

  /** Lists are read one after another, so that the last one read is the newest. */
  #list(): Promise<Offer> {
    const listed = this.#listing.then(async () => {
      const { offer, originals } = offerOfServer(await this.#allTools(), this.#options.entry.source.manifest);
      this.#originals = originals;
      return offer;
    });
    this.#listing = listed.catch(() => {});
    return listed;
  }

  async #relist(): Promise<void> {
    try {
      const offer = await this.#list();
      this.#onOffer?.(offer);
    } catch (error) {
      this.#options.log(
        'warn',
        `the server says that its tools have changed, but cannot list them: ${(error as Error).message}`,
      );
    }
  }

  async #allTools(): Promise<Json[]> {
    const client = this.#connected();
    const tools: Json[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = rawResult(await client.request({ method: 'tools/list', params }, PATIENT)) as {
        tools?: unknown;
        nextCursor?: unknown;
      } | null;
      if (!Array.isArray(answer?.tools)) {
        throw new ChassisError('InvalidOutput', 'tools/list must answer { tools: […] }');
      }
      tools.push(...(answer.tools as Json[]));
      if (typeof answer.nextCursor !== 'string' || answer.nextCursor === cursor) return tools;
      cursor = answer.nextCursor;
    }
    throw new ChassisError('InvalidOutput', `tools/list did not come to an end within ${MAX_PAGES} pages`);
  }

  #connected(): Client {
    if (this.#client !== undefined) return this.#client;
    throw new ChassisError('Unavailable', `plugin ${this.#options.entry.name} is not running`);
  }

  /** An error of the client in the words that every host uses. A session that the server has forgotten is over. */
  #failed(error: unknown): unknown {
    if (error instanceof SdkHttpError) {
      const { status } = error;
      const gone = status === 404 && this.#client?.transport !== undefined;
      const failed = new RpcError(ErrorCode.Unavailable, `HTTP status ${status}`, { status });
      if (gone)
        this.#tellOver({
          kind: 'ended',
          message: `HTTP status ${status}: the server has forgotten the session`,
        });
      return failed;
    }
    if (error instanceof ProtocolError) return new RpcError(error.code, error.message, error.data);
    if (error instanceof SdkError && /^(?:NOT_CONNECTED|CONNECTION_CLOSED|SEND_FAILED)$/.test(error.code)) {
      return new RpcError(ErrorCode.Unavailable, error.message, { kind: 'ended', message: error.message });
    }
    // On the way to an address anything may fail; where exactly is what helps.
    if ((error instanceof TypeError || error instanceof SdkError) && this.#link === undefined) {
      return new RpcError(ErrorCode.Unavailable, deepest(error));
    }
    return error;
  }
}

function deepest(error: Error): string {
  return error.cause instanceof Error ? deepest(error.cause) : error.message;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
