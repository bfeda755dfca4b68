import { Protocol } from '../../peers/node_modules/@modelcontextprotocol/sdk/dist/esm/shared/protocol.js';
import {
  ReadBuffer,
  serializeMessage,
} from '../../peers/node_modules/@modelcontextprotocol/sdk/dist/esm/shared/stdio.js';
import { z } from '../../peers/node_modules/zod/index.js';
import { mcp, unchecked } from './mcp.ts';

const Echo = z.object({ method: z.literal('echo'), params: z.looseObject({}) });

export const mcpV1 = mcp('mcp-v1', {
  make: () => new (unchecked(Protocol as never))() as never,
  serveEcho: (server) => server.setRequestHandler(Echo, ({ params }: { params: unknown }) => params),
  anything: z.looseObject({}),
  ReadBuffer: ReadBuffer as never,
  serializeMessage: serializeMessage as never,
});
