/** A page of documentation as what can be checked of it: headings, fenced blocks, links. */
import { readFileSync } from 'node:fs';

export interface Block {
  /** First word behind the fence: `console`, `yaml`. */
  readonly language: string;
  /** The file that the block is, from `title="…"`. */
  readonly title: string | undefined;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** Exit code of the block's last command, from `<!-- exit N -->` on the line above. */
  readonly exit: number;
  /** `<!-- one command -->` on the line above: further lines with a `$` belong to the output. */
  readonly single: boolean;
}

export interface Page {
  readonly headings: readonly { readonly level: number; readonly text: string }[];
  readonly blocks: readonly Block[];
  /** Targets of links and images outside of blocks. */
  readonly links: readonly string[];
}

export function readPage(path: string): Page {
  const lines = readFileSync(path, 'utf8').split('\n');
  const headings: Page['headings'][number][] = [];
  const blocks: Block[] = [];
  const links: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const fence = /^( *)(`{3,})(\S*) *(.*)$/.exec(line);
    if (fence === null) {
      const heading = /^(#{1,6}) (.+)$/.exec(line);
      if (heading) headings.push({ level: heading[1]!.length, text: heading[2]! });
      for (const link of line.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) links.push(link[1]!);
      continue;
    }
    const [, indent = '', ticks = '', language = '', rest = ''] = fence;
    const start = at;
    const body: string[] = [];
    while (++at < lines.length && lines[at]?.trim() !== ticks) body.push(lines[at]!.slice(indent.length));
    if (at >= lines.length) throw new Error(`${path}:${start + 1}: this fence is never closed`);
    const above = lines[start - 1] ?? '';
    blocks.push({
      language,
      title: /title="([^"]+)"/.exec(rest)?.[1],
      text: `${body.join('\n')}\n`,
      line: start + 1,
      exit: Number(/<!-- *exit (\d+) *-->/.exec(above)?.[1] ?? 0),
      single: above.includes('<!-- one command -->'),
    });
  }
  return { headings, blocks, links };
}

export interface Command {
  readonly text: string;
  readonly line: number;
  /** What the page shows of its output; `…` stands for anything. */
  readonly shown: readonly string[];
  readonly exit: number;
}

/** The `$ …` lines of a console block, each with what stands below it. */
export function commandsOf(block: Block): readonly Command[] {
  const found: { text: string; line: number; shown: string[]; exit: number }[] = [];
  let open = false;
  for (const [at, line] of block.text.split('\n').entries()) {
    const last = found.at(-1);
    if (open && last !== undefined) last.text += `\n${line}`;
    else if (line.startsWith('$ ') && !(block.single && last !== undefined))
      found.push({ text: line.slice(2), line: block.line + 1 + at, shown: [], exit: 0 });
    else if (line.trim() !== '') last?.shown.push(line);
    open = line.endsWith('\\') && (open || line.startsWith('$ '));
  }
  const last = found.at(-1);
  if (last !== undefined) last.exit = block.exit;
  return found;
}

/** The first shown line that the output lacks, in the order shown; `…` stands for anything. */
export function missingLine(shown: readonly string[], output: string): string | undefined {
  const lines = output.split('\n').map(plain);
  let from = 0;
  for (const line of shown) {
    if (line.trim() === '…') continue;
    const pattern = new RegExp(
      `^${plain(line)
        .split('…')
        .map((part) => RegExp.escape(part))
        .join('.*')}$`,
      'u',
    );
    const at = lines.findIndex((candidate, index) => index >= from && pattern.test(candidate));
    if (at < 0) return line;
    from = at + 1;
  }
  return undefined;
}

/** What differs from one run to the next (ids, times, sizes, tokens) as signs; quotes of a shell and runs of blanks do not count. */
function plain(line: string): string {
  return line
    .replaceAll(/\b[a-z2-7]{12}\b/g, '<id>')
    .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, '<time>')
    .replaceAll(/\b[\d.]+(?:ms|s)\b/g, '<span>')
    .replaceAll(/\b[\d.]+ (?:B|kB|MB)\b/g, '<size>')
    .replaceAll(/[\d.]+k?→[\d.]+k?/g, '<tokens>')
    .replaceAll("'", '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
