/** A value that a result gave in an encoding, and said so, was passed on as it is. */
import { type Leaf, leavesOf, outputLeaves } from '../json.ts';
import { lastKey, parentOf } from '../pointer.ts';
import type { Rule } from './rule.ts';

const encodingName = /^(?:encoding|content_?encoding|transfer_?encoding|encoded|compression|format)$/i;
const encodings =
  /^(?:base64(?:url)?|hex|url|percent|quoted-printable|gzip|zstd|deflate|brotli|html|escaped)$/i;
const mostLeaves = 60;
const leastText = 8;

interface Encoded extends Leaf {
  readonly as: string;
}

export const undecoded: Rule<readonly Encoded[]> = {
  name: 'undecoded',
  see({ kind, status }, _output, recorded) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const leaves = outputLeaves(recorded).slice(0, mostLeaves);
    const marks = leaves.filter(
      ({ pointer, text }) => encodingName.test(lastKey(pointer)) && encodings.test(text),
    );
    const found = marks.flatMap(({ pointer, text: as }) =>
      leaves
        .filter(
          (leaf) =>
            parentOf(leaf.pointer) === parentOf(pointer) &&
            leaf.pointer !== pointer &&
            typeof leaf.value === 'string' &&
            leaf.text.length >= leastText,
        )
        .map((leaf) => ({ ...leaf, as })),
    );
    return found.length > 0 ? found : undefined;
  },
  *find({ steps }, seen) {
    const given = [...seen].flatMap(([number, encoded]) => encoded.map((one) => ({ ...one, number })));
    for (const step of steps) {
      if (step.kind !== 'tool') continue;
      const leaves = leavesOf(step.input, '/input');
      for (const { pointer, text, value } of leaves) {
        const from = given.find((one) => one.number < step.number && one.text === text);
        if (!from || leaves.some((leaf) => leaf.text.toLowerCase() === from.as.toLowerCase())) continue;
        const said = `this is ${from.as}, as :${from.number} said of ${lastKey(from.pointer)}, and was passed on undecoded`;
        yield { step: step.number, pointer, value, text: said, score: 0.76, kind: 'act' };
      }
    }
  },
};
