/**
 * The MCP SDKs, old and new: their protocol class with a transport of lines, read with their own buffer. Neither has
 * batches. Results must be objects.
 */
import type { Readable, Writable } from 'node:stream';
import type { Client, Implementation } from '../implementation.ts';

type Protocol = {
  connect(transport: object): Promise<void>;
  setRequestHandler(...args: unknown[]): void;
  request(request: object, schema: unknown): Promise<unknown>;
};

interface Sdk {
  /** A protocol object without capabilities to check. */
  make(): Protocol;
  serveEcho(protocol: Protocol): void;
  readonly anything: unknown;
  readonly ReadBuffer: new () => { append(chunk: Buffer): void; readMessage(): unknown };
  readonly serializeMessage: (message: never) => string;
}

class Lines {
  onmessage: ((message: unknown) => void) | undefined;
  readonly #sdk: Sdk;
  readonly #readable: Readable;
  readonly #writable: Writable;

  constructor(sdk: Sdk, readable: Readable, writable: Writable) {
    this.#sdk = sdk;
    this.#readable = readable;
    this.#writable = writable;
  }

  async start(): Promise<void> {
    const buffer = new this.#sdk.ReadBuffer();
    this.#readable.on('data', (chunk: Buffer) => {
      buffer.append(chunk);
      for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
        this.onmessage?.(message);
      }
    });
  }

  send(message: never): Promise<void> {
    return new Promise((resolve) => {
      if (this.#writable.write(this.#sdk.serializeMessage(message))) resolve();
      else this.#writable.once('drain', resolve);
    });
  }

  async close(): Promise<void> {}
}

export function mcp(name: string, sdk: Sdk): Implementation {
  return {
    name,
    serve(readable, writable) {
      const server = sdk.make();
      sdk.serveEcho(server);
      return server.connect(new Lines(sdk, readable, writable));
    },
    async client(readable, writable): Promise<Client> {
      const client = sdk.make();
      await client.connect(new Lines(sdk, readable, writable));
      return { echo: (params) => client.request({ method: 'echo', params }, sdk.anything) };
    },
  };
}

/** The abstract checks of a protocol class, all passed. */
export function unchecked(Base: new (options?: object) => object): new () => object {
  return class extends Base {
    assertCapabilityForMethod(): void {}
    assertNotificationCapability(): void {}
    assertRequestHandlerCapability(): void {}
    assertTaskCapability(): void {}
    assertTaskHandlerCapability(): void {}
    buildContext(context: unknown): unknown {
      return context;
    }
  };
}
