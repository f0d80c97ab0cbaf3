import { MalformedMessage } from './check-values.ts';
import type { ToDataPlane } from './messages.ts';

/** Maximum characters of a message that came in parts: one row can be no larger than a request to the Admin API. */
const maxJoined = 64 * 1024 * 1024;

/** Each character of a text has at most 6 bytes in JSON (`\u0000`), in UTF-8 at most 3. */
const maxBytesPerCharacter = 6;

/** One message, or the parts of a message that would have more than `maxPayload` bytes. */
export function messageParts(json: string, maxPayload: number): readonly string[] {
  if (json.length * 3 <= maxPayload || Buffer.byteLength(json) <= maxPayload) return [json];
  const size = Math.max(1, Math.floor((maxPayload - 100) / maxBytesPerCharacter));
  const parts: string[] = [];
  for (let at = 0; at < json.length; at += size) {
    const part: ToDataPlane = { t: 'part', text: json.slice(at, at + size), last: at + size >= json.length };
    parts.push(JSON.stringify(part));
  }
  return parts;
}

/** Joins the parts of one message after the other. */
export class PartJoiner {
  #texts: string[] = [];
  #length = 0;

  /** The whole message with its last part, otherwise null. Throws a `MalformedMessage` when it is too large. */
  add(text: string, last: boolean): string | null {
    this.#length += text.length;
    if (this.#length > maxJoined) throw new MalformedMessage('a message in parts is too large');
    this.#texts.push(text);
    if (!last) return null;
    const whole = this.#texts.join('');
    this.#texts = [];
    this.#length = 0;
    return whole;
  }
}
