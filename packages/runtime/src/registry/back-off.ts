/**
 * When a plugin that failed is tried again, and when it is put to rest.
 *
 * Three failures within five minutes are a crash loop: it ends in `failed`, and only a person (or a reload)
 * starts it again. Between them the wait grows, with jitter so that many plugins do not start in one moment.
 */
export interface BackOff {
  /** Counts a failure. Milliseconds to wait before the next try, or null: put to rest. */
  failed(now: number): number | null;
}

export interface BackOffTiming {
  readonly first_ms: number;
  readonly factor: number;
  readonly most_ms: number;
  readonly tries: number;
  readonly window_ms: number;
}

export const BACK_OFF: BackOffTiming = {
  first_ms: 1_000,
  factor: 4,
  most_ms: 300_000,
  tries: 3,
  window_ms: 300_000,
};

export function backOff(timing: BackOffTiming = BACK_OFF, random: () => number = Math.random): BackOff {
  let failures: number[] = [];
  return {
    failed(now) {
      failures = [...failures.filter((at) => now - at < timing.window_ms), now];
      if (failures.length >= timing.tries) return null;
      const wait = Math.min(timing.first_ms * timing.factor ** (failures.length - 1), timing.most_ms);
      return jittered(wait, random);
    },
  };
}

/** Up to a fifth longer, so that many plugins are not tried again in one moment. Milliseconds. */
export function jittered(milliseconds: number, random: () => number = Math.random): number {
  return Math.round(milliseconds * (1 + 0.2 * random()));
}
