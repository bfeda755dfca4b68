/**
 * The server that the conformance cases are run against:
 *
 *     node packages/jsonrpc/test/conformance-server.ts --framing ndjson|content-length
 */
import { type FramingName, Peer, stdioTransport } from '../src/index.ts';
import { conformanceMethods } from './conformance-methods.ts';

const at = process.argv.indexOf('--framing');
const framing = at < 0 ? 'ndjson' : (process.argv[at + 1] as FramingName);
new Peer(stdioTransport({ framing }), { methods: conformanceMethods(), log: () => {} });
