/**
 * Deadlines of any number of calls behind one timer.
 *
 * Promise: adding and removing are constant time and touch no timer in the usual case; a deadline fires after
 * its time and not before. The timer keeps the process alive only while something waits.
 */

/** Calls with the same time to live, oldest first: a ring of links around its own head. */
interface Lane {
  readonly ms: number;
  first: Link | undefined;
  last: Link | undefined;
}

/** What is waited for; keep one per call and hand it back to `remove`. */
export class Link {
  due = 0;
  lane: Lane | undefined;
  before: Link | undefined;
  after: Link | undefined;
}

const longest = 2 ** 31 - 1;
/** How long after the last item the process may be kept alive. */
const restMs = 20;

export class Deadlines<T extends Link> {
  readonly #expire: (item: T) => void;
  readonly #lanes = new Map<number, Lane>();
  #recent: Lane | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wake = Number.POSITIVE_INFINITY;
  #count = 0;
  /** Whether the timer keeps the process alive. */
  #holds = true;
  #letGo: NodeJS.Timeout | undefined;

  /** @param expire called once for an item whose time is over; the item is no longer waited for */
  constructor(expire: (item: T) => void) {
    this.#expire = expire;
  }

  /**
   * @param ms time from `now`; an item may wait in one place only
   * @param now on the clock of `performance.now()`
   */
  add(item: T, ms: number, now: number): void {
    let lane = this.#recent;
    if (lane?.ms !== ms) {
      lane = this.#lanes.get(ms);
      if (!lane) {
        lane = { ms, first: undefined, last: undefined };
        this.#lanes.set(ms, lane);
      }
      this.#recent = lane;
    }
    const due = Math.ceil(now + ms); // whole numbers are stored without a box
    item.due = due;
    item.lane = lane;
    item.before = lane.last;
    if (lane.last) lane.last.after = item;
    else lane.first = item;
    lane.last = item;
    if (this.#count++ === 0 && !this.#holds) this.#hold(true);
    if (due < this.#wake) this.#arm(due);
  }

  remove(item: T): void {
    const { lane, before, after } = item;
    if (!lane) return;
    if (before) before.after = after;
    else lane.first = after;
    if (after) after.before = before;
    else lane.last = before;
    item.lane = undefined;
    item.before = undefined;
    item.after = undefined;
    if (--this.#count === 0) this.#letGo ??= setTimeout(() => this.#rest(), restMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#letGo);
    this.#letGo = undefined;
    this.#timer = undefined;
    this.#wake = Number.POSITIVE_INFINITY;
  }

  #arm(due: number): void {
    clearTimeout(this.#timer);
    this.#wake = due;
    const wait = Math.min(longest, Math.max(1, Math.ceil(due - performance.now())));
    this.#timer = setTimeout(() => this.#ring(), wait);
    this.#holds = true;
  }

  /** A moment after the last item was removed; one call after another would switch to and fro for nothing. */
  #rest(): void {
    this.#letGo = undefined;
    if (this.#count === 0) this.#hold(false);
  }

  #hold(alive: boolean): void {
    this.#holds = alive;
    if (alive) this.#timer?.ref();
    else this.#timer?.unref();
  }

  #ring(): void {
    this.#timer = undefined;
    this.#wake = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      for (let item = lane.first; item && item.due <= now; item = lane.first) {
        this.remove(item as T);
        this.#expire(item as T);
      }
      if (lane.first) next = Math.min(next, lane.first.due);
      else if (lane !== this.#recent) this.#lanes.delete(lane.ms);
    }
    if (next < this.#wake) this.#arm(next);
  }
}
