import { Secrets } from '@chassis/journal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SafeStream } from './safe-stream.ts';

const secret = 's3cr3t-A-value';

describe('a streamed text', () => {
  it('shows no part of a secret, however it is cut into pieces, and everything else', () => {
    const text = `The key is ${secret}, and s3cr3t alone is none. ${secret}`;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 60, maxLength: 60 }), (sizes) => {
        const secrets = new Secrets({ detect: false });
        secrets.add('KEY', secret);
        const stream = new SafeStream(secrets);
        let shown = '';
        let at = 0;
        for (const size of sizes) {
          const piece = text.slice(at, at + size);
          at += size;
          if (piece !== '') shown += secrets.redact(stream.pass(1, { text: piece })?.text ?? '');
        }
        shown += secrets.redact(stream.rest(1)?.text ?? '');
        expect(shown).toBe('The key is {{secret:KEY}}, and s3cr3t alone is none. {{secret:KEY}}');
      }),
    );
  });

  it('keeps steps, text, reasoning and calls apart', () => {
    const secrets = new Secrets({ detect: false });
    secrets.add('KEY', secret);
    const stream = new SafeStream(secrets);
    expect(stream.pass(1, { text: 's3cr' })).toBeUndefined();
    expect(stream.pass(2, { text: '3t' })).toEqual({ text: '3t' });
    expect(stream.pass(1, { reasoning: 'plain' })).toEqual({ reasoning: 'plain' });
    expect(stream.pass(1, { tool_call: { index: 0, name: 'x', arguments: '{"k":"s3cr' } })).toEqual({
      tool_call: { index: 0, name: 'x', arguments: '{"k":"' },
    });
    expect(stream.rest(1)).toEqual({ text: 's3cr' });
    expect(stream.rest(1)).toBeUndefined();
  });
});
