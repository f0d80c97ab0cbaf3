import { messageParts } from '../protocol/message-parts.ts';

/** A batch ends at this size or number, so that neither end is blocked by one message. */
const maxCharacters = 128 * 1024;
const maxItems = 256;

/** The items as JSON, in batches of bounded size. */
export function* textBatches(items: Iterable<unknown>): Generator<readonly string[]> {
  let texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const json = JSON.stringify(item);
    texts.push(json);
    length += json.length;
    if (texts.length < maxItems && length < maxCharacters) continue;
    yield texts;
    texts = [];
    length = 0;
  }
  if (texts.length > 0) yield texts;
}

/** A message as it is sent to all data planes: in parts when one item is larger than `maxPayload`. */
export function encodeMessage(json: string, maxPayload: number): readonly Buffer[] {
  return messageParts(json, maxPayload).map((part) => Buffer.from(part));
}
