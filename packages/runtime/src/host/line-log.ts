/**
 * Text that a process prints, as log lines: bounded in length and in number, so that a program that prints without end
 * costs neither memory nor the readability of a log.
 */
const MAX_LINE = 4_000;
/** Lines passed on in one second; what is above is counted, not shown. */
const PER_SECOND = 200;
const KEPT = 20;

export class LineLog {
  /** The last lines. */
  readonly kept: string[] = [];
  readonly #write: (line: string) => void;
  #rest = '';
  #cut = false;
  #second = 0;
  #count = 0;
  #left = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  add(text: string): void {
    const lines = text.split('\n');
    lines.forEach((piece, i) => {
      const room = MAX_LINE - this.#rest.length;
      this.#cut ||= piece.length > room;
      this.#rest += piece.slice(0, Math.max(room, 0));
      if (i < lines.length - 1) this.#line();
    });
  }

  /** Writes what has no line end yet. */
  end(): void {
    if (this.#rest !== '') this.#line();
    this.#tellLeft();
  }

  #line(): void {
    const line = (this.#cut ? `${this.#rest}…` : this.#rest).replace(/\r$/, '');
    this.#rest = '';
    this.#cut = false;
    if (line === '') return;
    this.kept.push(line);
    if (this.kept.length > KEPT) this.kept.shift();
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#count = 0;
      this.#tellLeft();
    }
    if (++this.#count > PER_SECOND) this.#left++;
    else this.#write(line);
  }

  #tellLeft(): void {
    if (this.#left > 0) this.#write(`… ${this.#left} more lines`);
    this.#left = 0;
  }
}
