/** The public face of the package; nothing else is. */
export type { Abortable, BatchItem, CallOptions } from './call.ts';
export { type ConnectOptions, connect } from './connect.ts';
export type { Context, Remote } from './context.ts';
export type { Caller, Contract, Contracts, SchemaCompiler } from './contract.ts';
export type { DialectName } from './dialect.ts';
export type { ServiceInfo } from './discover.ts';
export { ErrorCode, RpcError, type WireError } from './errors.ts';
export type { FramingName } from './framing/framing.ts';
export type { Interceptor, Traffic } from './intercept.ts';
export { isRawNumber, parseExact, type RawNumber } from './json.ts';
export type { Log, PeerLog } from './log.ts';
export type { RequestId } from './message.ts';
export { type Handler, Methods } from './methods.ts';
export { Peer } from './peer.ts';
export type { PeerOptions } from './peer-options.ts';
export type { Issue, JsonSchema, Schema, StandardSchema } from './schema.ts';
export type { ProgressStream } from './stream.ts';
export type { CloseReason, Damage, Sink, Transport } from './transport.ts';
export { type ChildTransport, type Exit, type SpawnOptions, spawnTransport } from './transports/child.ts';
export { type HttpOptions, httpTransport } from './transports/http-client.ts';
export { httpHandler } from './transports/http-server.ts';
export type { HttpHandler, HttpHandlerOptions } from './transports/http-service.ts';
export { memoryPair } from './transports/memory.ts';
export { messagePortTransport, type PortLike } from './transports/message-port.ts';
export {
  connectSocket,
  type Listener,
  listen,
  type SocketAddress,
  socketTransport,
} from './transports/socket.ts';
export { stdioTransport } from './transports/stdio.ts';
export { type StreamOptions, streamTransport } from './transports/stream.ts';
export { type WebSocketLike, webSocketTransport } from './transports/websocket.ts';
