/** Verification: the whole joined log against its chain, the header, the referenced blobs, and how far the log once reached. */
import { toChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { blobRefsIn, refersOnlyTo } from '../blob-ref.ts';
import { Chain } from '../chain.ts';
import { equalJson } from '../delta.ts';
import { parseJson } from '../json.ts';
import { isCompactJson } from '../json-bytes.ts';
import { decodeLine } from '../line.ts';
import type { LineHead } from '../line-head.ts';
import { KnownLosses } from '../lost.ts';
import type { Verification } from '../store.ts';
import { FORMAT_VERSION } from '../upgrade.ts';
import type { BlobFiles } from './blob-files.ts';
import { Damage } from './damage.ts';
import { readIfThere } from './disk.ts';
import type { IndexDb } from './index-db.ts';
import type { Layout } from './layout.ts';
import { unrecorded } from './recorded-losses.ts';
import { partsOf, scanPart } from './session-files.ts';

export async function verifySession(
  layout: Layout,
  blobs: BlobFiles,
  index: IndexDb,
  id: string,
  known = new KnownLosses(),
): Promise<Verification> {
  const damage = new Damage(id, layout, index);
  const { problems } = damage;
  const chain = new Chain();
  const looked = new Set<string>();
  let events = 0;
  const checkBlobs = (value: Json, seq: number): void => {
    for (const { sha256, media_type: mediaType } of blobRefsIn(value)) {
      if (looked.has(sha256)) continue;
      looked.add(sha256);
      let bytes: Buffer | undefined;
      try {
        bytes = blobs.read(sha256);
      } catch (error) {
        const message = `the content of blob ${sha256} is damaged: ${(error as Error).message}`;
        problems.push({ kind: 'blob-damaged', message, file: layout.blob(sha256), seq });
        continue;
      }
      if (!bytes) {
        const message = `blob ${sha256} is missing`;
        problems.push({ kind: 'blob-missing', message, file: layout.blob(sha256), seq });
      } else if (mediaType === 'application/json') {
        checkBlobs(parseJson(bytes.toString('utf8')), seq);
      }
    }
  };
  const parts = await partsOf(layout, id);
  for (const part of parts) {
    for await (const lines of scanPart(part, {}, chain)) {
      for (const { bytes, checked, problem } of lines) {
        damage.line(part, problem);
        if (!checked.whole || !checked.head) continue;
        events++;
        try {
          if (!mustDecode(checked.head, bytes, looked) && isCompactJson(bytes)) continue;
          const { event, refs } = decodeLine(bytes, false, checked);
          if (refs) checkBlobs(event.data as Json, event.seq);
          if (event.type === 'session.repaired') known.add(event.data);
          if (event.type === 'session.opened' && event.session === part.id) {
            const header = readIfThere(part.layout.head);
            if (!header || !sameHeader(header, event.data)) {
              const message = 'head.json is not what the first event says';
              problems.push({ kind: 'head', message, file: part.layout.head, seq: event.seq });
            }
          }
        } catch (error) {
          const { message } = toChassisError(error);
          problems.push({
            kind: 'unreadable',
            message,
            seq: checked.head.seq,
            ...(problem?.file ? { file: problem.file } : {}),
          });
        }
      }
    }
    damage.end(part, chain);
  }
  const open = await unrecorded(problems, parts, known);
  const losses = problems.filter((one) => !open.includes(one));
  const verification = { ok: open.length === 0, session: id, events, head_hash: chain.hash, problems: open };
  return losses.length > 0 ? { ...verification, losses } : verification;
}

/** Of most lines it is enough that they are JSON: their blobs were looked at with an earlier one. */
function mustDecode({ v, type }: LineHead, line: Buffer, looked: ReadonlySet<string>): boolean {
  return (
    v !== FORMAT_VERSION ||
    type === 'session.opened' ||
    type === 'session.repaired' ||
    !refersOnlyTo(line, looked)
  );
}

function sameHeader(bytes: Buffer, header: unknown): boolean {
  try {
    return equalJson(parseJson(bytes.toString('utf8')), header);
  } catch {
    return false;
  }
}
