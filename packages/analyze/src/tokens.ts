/**
 * How many tokens a text takes, without any model's tokeniser.
 *
 * Tokenisers cut words of the Latin alphabet into pieces of about four characters, give most Han, kana and Hangul characters a
 * token of their own, and emoji two or more: so scripts are counted apart. An estimate errs high rather than low.
 */
import type { Message, ToolSpec } from '@chassis/types';

const perMessage = 4;
/** A picture costs by its size on the screen, not by the length of its text; a middling one is about this many tokens. */
const perImage = 1000;
const image = /data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/=]+/g;

/** From this length on it pays to ask first whether a text is of one script. */
const LONG = 128;
const encoder = new TextEncoder();
const encoded = new Uint8Array(16_384);

/** Whether every character is ASCII, found without looking at each from here. */
function isAscii(text: string): boolean {
  for (let from = 0; from < text.length; ) {
    const { read, written } = encoder.encodeInto(from === 0 ? text : text.slice(from), encoded);
    if (read !== written || read === 0) return false;
    from += read;
  }
  return true;
}

/** Estimated tokens of a text. */
export function estimateTokens(text: string): number {
  let images = 0;
  const plain = text.includes('data:image/')
    ? text.replace(image, () => {
        images++;
        return '';
      })
    : text;
  if (plain.length >= LONG && isAscii(plain)) return Math.ceil(plain.length / 4) + images * perImage;
  let quarters = 0;
  for (let i = 0; i < plain.length; i++) {
    const unit = plain.charCodeAt(i);
    if (unit < 0x80) quarters += 1;
    else if (unit < 0x1100) quarters += 2;
    else quarters += 4;
  }
  return Math.ceil(quarters / 4) + images * perImage;
}

const known = new WeakMap<Message, number>();

/** Estimated tokens of one message. */
export function messageTokens(message: Message): number {
  let tokens = known.get(message);
  if (tokens === undefined) {
    tokens = perMessage + estimateTokens(message.content);
    if (message.role === 'assistant') {
      tokens += estimateTokens(message.reasoning ?? '');
      for (const call of message.tool_calls ?? [])
        tokens += perMessage + estimateTokens(call.name + call.arguments);
    }
    known.set(message, tokens);
  }
  return tokens;
}

/** Estimated tokens of the tools' definitions. */
export function toolTokens(tools: readonly ToolSpec[]): number {
  return tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools));
}
