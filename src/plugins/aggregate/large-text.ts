import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, jsonText, setMember } from '../../plugin-sdk/json.ts';

/** Which members of a value others land in: they are kept apart, all else is text. Null: nothing lands in it. */
export type Opening = ReadonlyMap<string, Opening> | null;

/** A value as text, opened as far as others land in it. Can be copied between threads. */
export type Skeleton = string | readonly (readonly [name: string, value: Skeleton])[];

export function skeletonOf(value: JsonValue, opening: Opening): Skeleton {
  if (opening === null || !isJsonObject(value)) return jsonText(value);
  return Object.entries(value).map(([name, member]) => [name, skeletonOf(member, opening.get(name) ?? null)]);
}

/** JSON text that stands for a value of a document, so that large values are written once and when they come. */
export class LargeText {
  readonly #mark: string;

  constructor(mark: string) {
    this.#mark = mark;
  }

  toJSON(): string {
    return this.#mark;
  }
}

/** The large texts of one document. Their marks cannot be guessed, so no text of a backend is taken for one. */
export class LargeTexts {
  #secret = '';
  readonly #texts: string[] = [];

  valueOf(skeleton: Skeleton): JsonValue {
    if (typeof skeleton === 'string') return this.#hold(skeleton);
    const object: JsonObject = {};
    for (const [name, member] of skeleton) setMember(object, name, this.valueOf(member));
    return object;
  }

  /** Writes a value now. */
  hold(value: JsonValue, opening: Opening): JsonValue {
    return this.valueOf(skeletonOf(value, opening));
  }

  /** The document's text, with each of the texts in its place. */
  write(document: JsonValue): Buffer {
    if (this.#texts.length === 0) return Buffer.from(jsonText(document));
    const [start = '', ...pieces] = jsonText(document).split(`"${this.#secret}`);
    const buffers = [Buffer.from(start)];
    for (const piece of pieces) {
      const end = piece.indexOf('"');
      buffers.push(Buffer.from(this.#texts[Number(piece.slice(0, end))]!), Buffer.from(piece.slice(end + 1)));
    }
    return Buffer.concat(buffers);
  }

  #hold(text: string): JsonValue {
    if (this.#secret === '') this.#secret = randomUUID();
    this.#texts.push(text);
    // It is a value for all that only carries values about.
    return new LargeText(`${this.#secret}${this.#texts.length - 1}`) as unknown as JsonValue;
  }
}
