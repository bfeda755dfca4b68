import {
  Protocol,
  ReadBuffer,
  serializeMessage,
} from '../../peers/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import { z } from '../../peers/node_modules/zod/index.js';
import { mcp, unchecked } from './mcp.ts';

const anything = z.looseObject({});

export const mcpV2 = mcp('mcp-v2', {
  make: () => new (unchecked(Protocol as never))() as never,
  serveEcho: (server) =>
    server.setRequestHandler('echo', { params: anything, result: anything }, (params: unknown) => params),
  anything,
  ReadBuffer: ReadBuffer as never,
  serializeMessage: serializeMessage as never,
});
