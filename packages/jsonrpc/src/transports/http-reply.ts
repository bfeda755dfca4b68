/**
 * The answer to one POST, however long it takes.
 *
 * Promise: a client that understands event streams hears something all the while, so that neither it nor a proxy between
 * takes a long call for a dead one; any other gets plain JSON.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventOf, heartbeat } from './event-stream.ts';
import { lastEventHeader } from './http-client.ts';

export class HttpReply {
  readonly #response: ServerResponse;
  #heartbeat: NodeJS.Timeout | undefined;
  #streaming = false;

  /** @param heartbeatMs how long nothing is heard at most */
  constructor(request: IncomingMessage, response: ServerResponse, heartbeatMs: number) {
    this.#response = response;
    if (!request.headers.accept?.includes('text/event-stream')) return;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref();
    response.once('close', () => clearInterval(this.#heartbeat));
  }

  /**
   * Ends the response.
   *
   * @param text the answer, if the message has one
   * @param lastEvent number of the session's last event before the answer
   * @param status of an answer that nobody had to wait for
   */
  end(text: string | undefined, lastEvent: number, status = 200): void {
    clearInterval(this.#heartbeat);
    const response = this.#response;
    if (this.#streaming) response.end(text === undefined ? '' : eventOf(text, lastEvent));
    else {
      if (lastEvent > 0) response.setHeader(lastEventHeader, lastEvent);
      if (text === undefined) response.writeHead(202).end();
      else response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    }
  }

  #beat(): void {
    if (!this.#streaming) {
      this.#streaming = true;
      this.#response.writeHead(200, { 'content-type': 'text/event-stream', [lastEventHeader]: 'id' });
    }
    this.#response.write(heartbeat);
  }
}
