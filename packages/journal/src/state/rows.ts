/**
 * A growing list of rows of numbers, kept as a tree of pages: what one snapshot wrote, the next one shares.
 *
 * Promise: `save` writes only pages that changed since the last one, and the few nodes above them; pages are read when
 * somebody looks at them, and given back their memory once it is known that they were saved.
 */

/** Rows in a page, and pages (or nodes) below a node. */
const PAGE = 128;
const FAN = 32;
/** How many pages are kept decoded. */
const DECODED = 32;

/** Where a saved node stands: in the snapshots of a session, within the record at `record`. */
export interface NodeRef {
  readonly session: string;
  readonly record: number;
  readonly from: number;
  readonly length: number;
}

/** @throws when it is not there or damaged */
export type ReadNode = (ref: NodeRef) => Buffer;
export type WriteNode = (bytes: Buffer) => NodeRef;

export interface RowsRoot {
  readonly length: number;
  readonly root: NodeRef | null;
}

type Row = number[];

interface Page {
  readonly kind: 'page';
  /** Undefined when it stands in `packed` or at `ref` only. */
  rows: Row[] | undefined;
  packed: Buffer | undefined;
  ref: NodeRef | undefined;
}

interface Inner {
  readonly kind: 'inner';
  below: Node[] | undefined;
  ref: NodeRef | undefined;
}

type Node = Page | Inner;

export class Rows {
  readonly #read: ReadNode;
  readonly #decoded = new Map<Page, readonly Row[]>();
  #length: number;
  #root: Node | undefined;
  /** Levels of nodes above the pages. */
  #depth: number;
  #last: Page | undefined;
  /** Written by the last `save`. */
  #written: Node[] = [];

  constructor(read: ReadNode = unreadable, saved: RowsRoot = { length: 0, root: null }) {
    this.#read = read;
    this.#length = saved.length;
    this.#depth = 0;
    for (let room = PAGE; room < saved.length; room *= FAN) this.#depth++;
    if (saved.root !== null) this.#root = stored(saved.root, this.#depth);
  }

  get length(): number {
    return this.#length;
  }

  /** @throws RangeError beyond the end */
  get(index: number): readonly number[] {
    if (index < 0 || index >= this.#length) throw new RangeError(`there is no row ${index}`);
    const row = this.#rowsOf(this.#page(index, false))[index % PAGE];
    if (row === undefined) throw new Error(`row ${index} is missing in its page`);
    return row;
  }

  /** All rows in order. */
  *[Symbol.iterator](): Generator<readonly number[]> {
    for (let index = 0; index < this.#length; index++) yield this.get(index);
  }

  push(row: Row): void {
    if (this.#length % PAGE === 0) this.#begin();
    else if (this.#last === undefined || this.#last.ref !== undefined)
      this.#last = this.#page(this.#length - 1, true);
    this.#length++;
    this.#open(this.#last as Page).push(row);
  }

  /** Adds a number to a row. */
  add(index: number, value: number): void {
    if (index < 0 || index >= this.#length) throw new RangeError(`there is no row ${index}`);
    const page = this.#isOpen(this.#last, index) ? this.#last : this.#page(index, true);
    this.#open(page)[index % PAGE]?.push(value);
  }

  /** Writes what changed, below before above; `saved` says what became of it. */
  save(write: WriteNode): RowsRoot {
    if (this.#root === undefined) return { length: 0, root: null };
    return { length: this.#length, root: this.#save(this.#root, write) };
  }

  #save(node: Node, write: WriteNode): NodeRef {
    if (node.ref !== undefined) return node.ref;
    this.#written.push(node);
    if (node.kind === 'inner')
      node.ref = write(encodeRefs((node.below ?? []).map((one) => this.#save(one, write))));
    else node.ref = write(node.packed ?? encodeRows(node.rows as Row[]));
    return node.ref;
  }

  /** Whether what the last `save` wrote can be read from now on; if not, the next one writes it again. */
  saved(done: boolean): void {
    for (const node of this.#written) {
      if (!done) node.ref = undefined;
      else if (node.kind === 'page') {
        node.packed = undefined;
        if (node.rows === undefined || node === this.#last) continue;
        this.#remember(node, node.rows);
        node.rows = undefined;
      }
    }
    this.#written = [];
  }

  /** A new page at the end; the one before it is packed. */
  #begin(): void {
    const page: Page = { kind: 'page', rows: [], packed: undefined, ref: undefined };
    const before = this.#last;
    if (before?.rows !== undefined) {
      if (before.ref === undefined) before.packed = encodeRows(before.rows);
      this.#remember(before, before.rows);
      before.rows = undefined;
    }
    this.#last = page;
    const at = this.#length / PAGE;
    if (this.#root === undefined) {
      this.#root = page;
      return;
    }
    if (at >= FAN ** this.#depth) {
      this.#root = { kind: 'inner', below: [this.#root], ref: undefined };
      this.#depth++;
    }
    let node = this.#root as Inner;
    for (let level = this.#depth; ; level--) {
      const below = this.#below(node, level);
      node.ref = undefined;
      if (level === 1) {
        below.push(page);
        return;
      }
      const place = Math.floor(at / FAN ** (level - 1)) % FAN;
      if (place === below.length) below.push({ kind: 'inner', below: [], ref: undefined });
      node = below[place] as Inner;
    }
  }

  /** Whether a row is in a page that changed since the last save: then all above it is known to have changed too. */
  #isOpen(page: Page | undefined, index: number): page is Page {
    return (
      page?.rows !== undefined &&
      page.ref === undefined &&
      index >= this.#length - 1 - ((this.#length - 1) % PAGE)
    );
  }

  /** The page of a row. On the way to a change what was saved is no longer what is. */
  #page(index: number, change: boolean): Page {
    const at = Math.floor(index / PAGE);
    let node = this.#root as Node;
    for (let level = this.#depth; level > 0; level--) {
      const inner = node as Inner;
      const below = this.#below(inner, level);
      if (change) inner.ref = undefined;
      node = below[Math.floor(at / FAN ** (level - 1)) % FAN] as Node;
    }
    return node as Page;
  }

  #below(node: Inner, level: number): Node[] {
    node.below ??= decodeRefs(this.#read(node.ref as NodeRef)).map((ref) => stored(ref, level - 1));
    return node.below;
  }

  #rowsOf(page: Page): readonly Row[] {
    if (page.rows !== undefined) return page.rows;
    const known = this.#decoded.get(page);
    if (known !== undefined) return known;
    const rows = decodeRows(page.packed ?? this.#read(page.ref as NodeRef));
    this.#remember(page, rows);
    return rows;
  }

  #remember(page: Page, rows: readonly Row[]): void {
    this.#decoded.set(page, rows);
    if (this.#decoded.size > DECODED) this.#decoded.delete(this.#decoded.keys().next().value as Page);
  }

  /** The rows of a page that is about to be changed. */
  #open(page: Page): Row[] {
    if (page.rows === undefined) {
      page.rows = [...this.#rowsOf(page)];
      page.packed = undefined;
      this.#decoded.delete(page);
    }
    page.ref = undefined;
    return page.rows;
  }
}

function stored(ref: NodeRef, depth: number): Node {
  return depth === 0
    ? { kind: 'page', rows: undefined, packed: undefined, ref }
    : { kind: 'inner', below: undefined, ref };
}

function unreadable(): never {
  throw new Error('nothing was saved');
}

/** Rows as differences: the first number to that of the row before, the others each to the one before it. */
function encodeRows(rows: readonly Row[]): Buffer {
  const bytes: number[] = [];
  let first = 0;
  for (const row of rows) {
    putNumber(bytes, row.length);
    let before = first;
    for (const [index, value] of row.entries()) {
      putDifference(bytes, value - before);
      before = value;
      if (index === 0) first = value;
    }
  }
  return Buffer.from(bytes);
}

function decodeRows(bytes: Buffer): Row[] {
  const rows: Row[] = [];
  const cursor = { at: 0 };
  let first = 0;
  while (cursor.at < bytes.length) {
    const length = takeNumber(bytes, cursor);
    if (length > bytes.length) throw new Error('a page of rows is damaged');
    const row: Row = [];
    let before = first;
    for (let index = 0; index < length; index++) {
      before += takeDifference(bytes, cursor);
      row.push(before);
    }
    if (length > 0) first = row[0] as number;
    rows.push(row);
  }
  return rows;
}

function encodeRefs(refs: readonly NodeRef[]): Buffer {
  const sessions = [...new Set(refs.map(({ session }) => session))];
  const bytes: number[] = [];
  putNumber(bytes, sessions.length);
  for (const session of sessions) {
    putNumber(bytes, Buffer.byteLength(session));
    bytes.push(...Buffer.from(session));
  }
  let before = 0;
  for (const { session, record, from, length } of refs) {
    putNumber(bytes, sessions.indexOf(session));
    putDifference(bytes, record - before);
    before = record;
    putNumber(bytes, from);
    putNumber(bytes, length);
  }
  return Buffer.from(bytes);
}

function decodeRefs(bytes: Buffer): NodeRef[] {
  const cursor = { at: 0 };
  const sessions: string[] = [];
  for (let left = takeNumber(bytes, cursor); left > 0; left--) {
    const length = takeNumber(bytes, cursor);
    sessions.push(bytes.toString('utf8', cursor.at, cursor.at + length));
    cursor.at += length;
  }
  const refs: NodeRef[] = [];
  let record = 0;
  while (cursor.at < bytes.length) {
    const session = sessions[takeNumber(bytes, cursor)] ?? '';
    record += takeDifference(bytes, cursor);
    const from = takeNumber(bytes, cursor);
    refs.push({ session, record, from, length: takeNumber(bytes, cursor) });
  }
  return refs;
}

function putDifference(bytes: number[], value: number): void {
  putNumber(bytes, value < 0 ? -value * 2 - 1 : value * 2);
}

function takeDifference(bytes: Buffer, cursor: { at: number }): number {
  const value = takeNumber(bytes, cursor);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** A whole number below 2^53, seven bits a byte, the lowest first. */
function putNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

function takeNumber(bytes: Buffer, cursor: { at: number }): number {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[cursor.at++];
    if (byte === undefined || factor > 2 ** 53) throw new Error('a page of a snapshot is cut off');
    value += (byte % 128) * factor;
    if (byte < 128) return value;
  }
}
