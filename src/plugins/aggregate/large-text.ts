import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, jsonText, setMember } from '../../plugin-kit/json/index.ts';

/** The members of a value that other parts are placed in: they stay separate, the rest becomes text. Null: no member. */
export type NestedTargets = ReadonlyMap<string, NestedTargets> | null;

/** A value as text, split where other parts are placed. It can be copied between threads. */
export type Skeleton = string | readonly (readonly [name: string, value: Skeleton])[];

export function skeletonOf(value: JsonValue, nestedTargets: NestedTargets): Skeleton {
  if (nestedTargets === null || !isJsonObject(value)) return jsonText(value);
  return Object.entries(value).map(([name, member]) => [name, skeletonOf(member, nestedTargets.get(name) ?? null)]);
}

/** Placeholder for a value whose JSON text is already written: a large value is written once, when it arrives. */
export class LargeText {
  readonly #mark: string;

  constructor(mark: string) {
    this.#mark = mark;
  }

  toJSON(): string {
    return this.#mark;
  }
}

/** The large texts of one document. Placeholders cannot be guessed: no text of a backend is mistaken for one. */
export class LargeTexts {
  #secret = '';
  readonly #texts: string[] = [];

  valueOf(skeleton: Skeleton): JsonValue {
    if (typeof skeleton === 'string') return this.#hold(skeleton);
    const object: JsonObject = {};
    for (const [name, member] of skeleton) setMember(object, name, this.valueOf(member));
    return object;
  }

  /** Writes a value at once. */
  hold(value: JsonValue, nestedTargets: NestedTargets): JsonValue {
    return this.valueOf(skeletonOf(value, nestedTargets));
  }

  /** The text of the document, with all placeholders replaced. */
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
    // Code that only moves values around can treat it as one.
    return new LargeText(`${this.#secret}${this.#texts.length - 1}`) as unknown as JsonValue;
  }
}
