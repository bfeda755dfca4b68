// An MCP server with one tool, made with the official package: what our host and the official client both speak to.
import { McpServer } from '../peers/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import { StdioServerTransport } from '../peers/node_modules/@modelcontextprotocol/server/dist/stdio.mjs';
import { z } from '../peers/node_modules/zod/index.js';

const server = new McpServer({ name: 'echo', version: '1.0.0' });
server.registerTool(
  'mcp_echo',
  {
    description: 'Answers its arguments.',
    inputSchema: z.object({ text: z.string() }),
    outputSchema: z.object({ text: z.string() }),
    annotations: { readOnlyHint: true },
  },
  async (input) => ({ content: [{ type: 'text', text: JSON.stringify(input) }], structuredContent: input }),
);
await server.connect(new StdioServerTransport());
