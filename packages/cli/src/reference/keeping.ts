/** The commands that check, move and delete what is on record. */
import { type CommandSpec, option } from './spec.ts';

export const keeping: readonly CommandSpec[] = [
  {
    name: 'verify',
    args: '<id>',
    about: 'Check that a record is whole and unchanged; exit 1 when it is not.',
    options: [option('--key <file>', 'the public key (PEM, Ed25519) that a bundle must be signed with')],
    examples: ['verify @last', 'verify night.session.jsonl --key ann.pub.pem', 'verify k3f --json'],
    load: async () => (await import('../commands/verify.ts')).verify,
  },
  {
    name: 'repair',
    args: '<id>',
    about: 'Say what can be brought back of a damaged record, on a copy; with --apply do it.',
    options: [
      option('--apply', 'change the record; what is replaced is kept in quarantine'),
      option('--from <file>', 'take what is missing from a bundle of the same session'),
    ],
    examples: ['repair k3f', 'repair k3f --from night.session.jsonl --apply'],
    load: async () => (await import('../commands/repair.ts')).repair,
  },
  {
    name: 'note',
    args: '<id> <text>',
    about: 'Put a remark or a correction on record; what happened stays as it was.',
    options: [option('--step <n>', 'the step that it is about, instead of ID:STEP')],
    examples: ['note k3f "the amounts are in cents"', 'note k3f:4 "the page had moved"'],
    load: async () => (await import('../commands/note.ts')).note,
  },
  {
    name: 'export',
    args: '<id>',
    about: 'Write a session as one file, a bundle.',
    options: [
      option('-o, --output <file>', 'the file; - is stdout (default: ID.session.jsonl here)'),
      option('--force', 'replace the file when there is one'),
      option('--sign <file>', 'sign it with this private key (PEM, Ed25519)'),
    ],
    examples: ['export @last', 'export k3f -o night.session.jsonl', 'export k3f -o - | gzip > night.gz'],
    load: async () => (await import('../commands/export.ts')).exportSession,
  },
  {
    name: 'import',
    args: '<file>',
    about: 'Take a bundle into the store, with its id and hashes; or chats in the JSONL of the OpenAI API.',
    options: [
      option('--with <module>', 'read the file with the importer that this module exports by default'),
    ],
    examples: [
      'import night.session.jsonl',
      'import chats.jsonl',
      'import spans.jsonl --with ./otel-importer.ts',
    ],
    load: async () => (await import('../commands/import.ts')).importSession,
  },
  {
    name: 'rm',
    args: '<id...>',
    about: 'Delete sessions and what only they refer to.',
    options: [option('--force', 'also when a fork needs it or a process holds it')],
    examples: ['rm k3f', 'rm k3f q7x --force'],
    load: async () => (await import('../commands/rm.ts')).rm,
  },
  {
    name: 'prune',
    about: 'Delete old sessions, and values that no session refers to any more.',
    options: [
      option('--older-than <span>', 'delete sessions that were last active longer ago than this: 30d, 12h'),
      option('--keep <n>', 'delete all but the newest n'),
      option('--dry-run', 'only say what would be deleted'),
    ],
    examples: ['prune --older-than 30d --dry-run', 'prune --keep 100', 'prune'],
    load: async () => (await import('../commands/prune.ts')).prune,
  },
];
