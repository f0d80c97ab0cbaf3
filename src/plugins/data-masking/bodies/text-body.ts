import { BodySyntaxError, parseJson } from '../../../plugin-kit/json/index.ts';
import { UnreadableBody } from '../refusals.ts';
import type { Rule } from '../rules/rules.ts';
import { codedText } from './text-coding.ts';

/** Masks matches of kinds and patterns in texts of any type. */
export function maskedText(body: Uint8Array, charset: string | null, rules: readonly Rule[]): Uint8Array {
  const { text, encode } = codedText(body, charset);
  if (isOtherwise(text)) throw new UnreadableBody('the body is not of the type that it names');
  let masked = text;
  for (const rule of rules) if (rule.inBodies && rule.search !== null) masked = rule.search(masked);
  return masked === text ? body : encode(masked);
}

/** Refuses JSON (an object or an array) and XML that are sent as text: their paths would not be masked. */
function isOtherwise(text: string): boolean {
  const start = /^\ufeff?\s*/.exec(text)?.[0].length ?? 0;
  if (text.startsWith('<?xml', start)) return true;
  const first = text[start];
  if (first !== '{' && first !== '[') return false;
  try {
    parseJson(text.slice(start));
    return true;
  } catch (error) {
    // JSON that is nested too deeply is refused, too.
    return error instanceof BodySyntaxError && error.message.includes('nested');
  }
}
