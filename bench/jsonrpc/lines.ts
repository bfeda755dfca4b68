/** Texts, one a line, on a pair of streams: for libraries that bring no framing of their own. */
import type { Readable } from 'node:stream';

export function lines(readable: Readable, take: (line: string) => void): void {
  let rest = '';
  readable.setEncoding('utf8');
  readable.on('data', (chunk: string) => {
    rest += chunk;
    let from = 0;
    for (let to = rest.indexOf('\n'); to >= 0; to = rest.indexOf('\n', from)) {
      take(rest.slice(from, to));
      from = to + 1;
    }
    rest = rest.slice(from);
  });
}
