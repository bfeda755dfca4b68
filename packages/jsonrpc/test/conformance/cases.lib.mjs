// Shared by the case files: build requests and describe the one right answer.
export const request = (method, params, id = 1, extra = {}) =>
  JSON.stringify({ jsonrpc: '2.0', method, params, id, ...extra });
export const deep = (n) => '['.repeat(n) + ']'.repeat(n);
/** A line for the newline-delimited framing. */
export const line = (text) => Buffer.concat([Buffer.from(text), Buffer.from('\n')]);
/** A frame with Content-Length for the header framing. */
export const frame = (text, headers = '') => {
  const b = Buffer.from(text);
  return Buffer.concat([Buffer.from(`Content-Length: ${b.length}\r\n${headers}\r\n`), b]);
};
export const ok = (id, result) => ({ id, result });
export const fail = (id, code) => ({ id, code });
export const batch = (...responses) => ({ batch: responses });
