// The message texts of a case, and the newline-delimited cases once more with Content-Length headers.
import { frame } from './cases.lib.mjs';

/** The messages of a newline-delimited case, as bytes without their newlines. */
export function messagesOf({ send }) {
  const messages = [];
  for (let rest = Buffer.concat(send); rest.length > 0; ) {
    const end = rest.indexOf(10);
    const line = end < 0 ? rest : rest.subarray(0, end);
    if (line.toString('latin1').trim() !== '') messages.push(line);
    rest = end < 0 ? rest.subarray(rest.length) : rest.subarray(end + 1);
  }
  return messages;
}

export function reframed(cases) {
  return cases
    .filter((c) => !c.framing)
    .map((c) => ({
      ...c,
      name: `${c.name} (Content-Length)`,
      framing: 'content-length',
      send: messagesOf(c).map((bytes) => frame(bytes)),
      ...(c.alive && { alive: { ...c.alive, after: frame(messagesOf({ send: [c.alive.after] })[0]) } }),
    }));
}
