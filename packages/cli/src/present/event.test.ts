import type { Event, UnknownEvent } from '@chassis/journal';
import { describe, expect, it } from 'vitest';
import { cells } from '../terminal/text.ts';
import { eventText } from './event.ts';

const base = { v: 1, session: 's', seq: 7, time: Date.UTC(2026, 10, 30, 2, 14, 9, 5), hash: '' } as const;

describe('an event in one line', () => {
  it('names the step, the type and what matters', () => {
    const event: Event = {
      ...base,
      type: 'step.finished',
      step: 3,
      data: { status: 'ok', output: { total: 42 }, duration_ms: 1500, attempts: 1 },
    };
    expect(eventText(event, undefined)).toEqual([
      '    7  02:14:09.005     :3  step.finished       ok  1.5s  {"total":42}',
    ]);
  });

  it('a type that this version does not know is shown as unknown, with its data', () => {
    const event: UnknownEvent = { ...base, type: 'session.sparkle', data: { level: 3, text: '\u001b[2J' } };
    const [line = ''] = eventText(event, undefined);
    expect(line).toContain('unknown session.sparkle');
    expect(line).toContain('{"level":3,');
    expect(line).not.toContain('\u001b[2J');
  });

  it('neither a line that is no JSON nor data of another shape is too much for it', () => {
    expect(eventText('{"v":1,"se', undefined)).toEqual(['(damaged line) {"v":1,"se']);
    expect(eventText({ ...base, type: 'step.started', data: null } as UnknownEvent, undefined)[0]).toContain(
      'unknown step.started',
    );
    expect(eventText({ ...base, time: Number.NaN, type: 'x', data: {} }, undefined)[0]).toContain('--:--:--');
  });

  it('is cut to the width of the terminal', () => {
    const event: UnknownEvent = { ...base, type: 'x', data: '潮'.repeat(100) };
    for (const width of [80, 20, 3])
      for (const line of eventText(event, width)) expect(cells(line)).toBeLessThanOrEqual(width);
  });
});
