/** What several tests need: connected peers, and one peer whose other side is played by hand. */
import { memoryPair, Peer, type PeerLog, type PeerOptions, type Sink, type Transport } from '../src/index.ts';

export interface Connected {
  readonly client: Peer;
  readonly server: Peer;
  readonly clientLog: PeerLog[];
  readonly serverLog: PeerLog[];
}

export function connected(serverOptions: PeerOptions = {}, clientOptions: PeerOptions = {}): Connected {
  const [near, far] = memoryPair();
  const [clientLog, serverLog]: PeerLog[][] = [[], []];
  const server = new Peer(far, { log: (entry) => serverLog!.push(entry), ...serverOptions });
  const client = new Peer(near, { log: (entry) => clientLog!.push(entry), ...clientOptions });
  return { client, server, clientLog: clientLog!, serverLog: serverLog! };
}

export interface RawPeer {
  readonly peer: Peer;
  /** Tells the peer that its other side reads again. */
  readonly drained: () => void;
  readonly log: PeerLog[];
  /** The next text that the peer sends. */
  readonly sent: () => Promise<string>;
  /** All texts sent and not yet taken, after everything that is ready has happened. */
  readonly allSent: () => Promise<unknown[]>;
  /** Lets the peer receive a message: a value, or a text as it is. False: it wants no more for now. */
  readonly receive: (message: unknown) => boolean | undefined;
}

/** One peer, and its other side by hand; `reads` tells whether that reads what it is sent. */
export function rawPeer(options: PeerOptions = {}, reads: () => boolean = () => true): RawPeer {
  const texts: string[] = [];
  const takers: ((text: string) => void)[] = [];
  let sink: Sink | undefined;
  const transport: Transport = {
    start: (to) => {
      sink = to;
    },
    send: (text) => {
      const take = takers.shift();
      if (take) take(text);
      else texts.push(text);
      return reads();
    },
    resume: () => {},
    close: async () => sink?.closed({ kind: 'closed', message: 'closed by hand' }),
  };
  const log: PeerLog[] = [];
  const peer = new Peer(transport, { log: (entry) => log.push(entry), ...options });
  return {
    peer,
    log,
    drained: () => sink?.drained(),
    sent: () => {
      const text = texts.shift();
      return text === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(text);
    },
    allSent: async () => {
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      return texts.splice(0).map((text) => JSON.parse(text) as unknown);
    },
    receive: (message) => sink?.message(typeof message === 'string' ? message : JSON.stringify(message)),
  };
}
