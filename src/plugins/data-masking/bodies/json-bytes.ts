import type { JsonPathState } from '../../../plugin-kit/json/index.ts';
import { escapedUnit, isHighSurrogate, isLowSurrogate, writePair, writeUnit } from './json-escapes.ts';
import { alive, JsonMembers } from './json-members.ts';

/** As `parseJson`: deeper bodies are refused there. */
const maxDepth = 512;
/** Names of one object that are compared one by one; more are kept in a set. */
const maxCompared = 32;

const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const slash = 0x2f;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openArray = 0x5b;
const backslash = 0x5c;
const closeArray = 0x5d;
const letterN = 0x6e;
const letterU = 0x75;
const openObject = 0x7b;
const closeObject = 0x7d;

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/**
 * Masks the bytes of a JSON body in one strict pass, without building its values: what is not replaced is copied. As `jsonText`
 * would, it removes spaces and resolves escapes; numbers keep their text and members their order.
 */
export class JsonBytesMasker {
  readonly #start: JsonPathState;
  readonly #masks: readonly Uint8Array[];
  readonly #members = new WeakMap<JsonPathState, JsonMembers>();
  /** Hashes of the names of all open objects. */
  readonly #names = new Int32Array(maxDepth * maxCompared);
  #namesEnd = 0;
  /** The body, with a NUL behind it: it is valid nowhere in JSON, so no loop reads beyond the end. */
  #bytes: Buffer = empty;
  #at = 0;
  /** Has room for all bytes from `#at` on. */
  #out: Buffer = empty;
  #written = 0;

  /**
   * `start`: the first state of paths whose `plain` is true. `masks`: for each list of paths, the JSON that replaces the values which
   * its paths lead to; of several lists the first one counts.
   */
  constructor(start: JsonPathState, masks: readonly Uint8Array[]) {
    this.#start = start;
    this.#masks = masks;
  }

  /**
   * `body`: UTF-8 without a byte order mark. Null: the caller must parse it, because it is not valid JSON, nested too deeply, or has a
   * name twice in an object, so that only the last member may remain.
   */
  mask(body: Uint8Array): Buffer | null {
    const length = body.byteLength;
    this.#bytes = Buffer.allocUnsafe(length + 1);
    this.#bytes.set(body);
    this.#bytes[length] = 0;
    this.#out = Buffer.allocUnsafe(length);
    this.#at = 0;
    this.#written = 0;
    this.#namesEnd = 0;
    try {
      this.#skipSpace();
      if (!this.#value(alive(this.#start), 0)) return null;
      this.#skipSpace();
      return this.#at === length ? this.#out.subarray(0, this.#written) : null;
    } finally {
      this.#bytes = empty;
      this.#out = empty;
    }
  }

  /** Passes one value. `state`: null if no path leads here. False: the body must be parsed. */
  #value(state: JsonPathState | null, depth: number): boolean {
    if (state !== null && state.accepts.length > 0)
      return this.#replace(this.#masks[state.accepts[0] as number] as Uint8Array, depth);
    switch (this.#bytes[this.#at]) {
      case quote:
        return this.#string();
      case openObject:
        return depth < maxDepth && this.#object(state, depth + 1);
      case openArray:
        return depth < maxDepth && this.#array(state, depth + 1);
      case 0x74:
        return this.#literal(literals[0] as Buffer);
      case 0x66:
        return this.#literal(literals[1] as Buffer);
      case letterN:
        return this.#literal(literals[2] as Buffer);
      default:
        return this.#number();
    }
  }

  #replace(mask: Uint8Array, depth: number): boolean {
    const start = this.#at;
    const written = this.#written;
    if (!this.#value(null, depth)) return false;
    const first = this.#bytes[start];
    // Null and the empty string hide nothing.
    if (first === letterN || (first === quote && this.#at - start === 2)) return true;
    this.#written = written;
    this.#write(mask);
    return true;
  }

  #object(state: JsonPathState | null, depth: number): boolean {
    this.#pass();
    let byte = this.#skipSpace();
    if (byte === closeObject) return this.#pass();
    const members = state === null ? null : this.#membersOf(state);
    const firstName = this.#namesEnd;
    let many: Set<number> | null = null;
    for (;;) {
      const start = this.#written;
      if (byte !== quote || !this.#string()) return false;
      // In `#out` the name has the spelling of `JSON.stringify`, whatever it is in the body.
      const hash = hashOf(this.#out, start, this.#written);
      if (many === null && this.#namesEnd - firstName === maxCompared) {
        many = new Set(this.#names.subarray(firstName, this.#namesEnd));
      }
      if (many === null ? this.#isKnown(hash, firstName) : many.has(hash)) return false;
      if (many === null) this.#names[this.#namesEnd++] = hash;
      else many.add(hash);
      const child = members === null ? null : members.at(this.#out, start + 1, this.#written - 1);
      if (this.#skipSpace() !== colon) return false;
      this.#pass();
      this.#skipSpace();
      if (!this.#value(child, depth)) return false;
      byte = this.#skipSpace();
      if (byte !== comma) break;
      this.#pass();
      byte = this.#skipSpace();
    }
    this.#namesEnd = firstName;
    return byte === closeObject && this.#pass();
  }

  #membersOf(state: JsonPathState): JsonMembers {
    let members = this.#members.get(state);
    if (members === undefined) {
      members = new JsonMembers(state);
      this.#members.set(state, members);
    }
    return members;
  }

  #isKnown(hash: number, firstName: number): boolean {
    const names = this.#names;
    for (let at = firstName; at < this.#namesEnd; at++) if (names[at] === hash) return true;
    return false;
  }

  #array(state: JsonPathState | null, depth: number): boolean {
    this.#pass();
    if (this.#skipSpace() === closeArray) return this.#pass();
    const element = state?.elements === true ? alive(state.element(0, 0, null, null)) : null;
    for (;;) {
      if (!this.#value(element, depth)) return false;
      const byte = this.#skipSpace();
      if (byte !== comma) return byte === closeArray && this.#pass();
      this.#pass();
      this.#skipSpace();
    }
  }

  #string(): boolean {
    const bytes = this.#bytes;
    const out = this.#out;
    let written = this.#written;
    out[written++] = quote;
    // A high surrogate, if the escape of one ends at `highEnd`.
    let high = 0;
    let highEnd = -1;
    for (let at = this.#at + 1; ; at++) {
      const byte = bytes[at] as number;
      if (byte !== backslash) {
        if (byte < 0x20) return false;
        out[written++] = byte;
        if (byte !== quote) continue;
        this.#at = at + 1;
        this.#written = written;
        return true;
      }
      const escapeAt = at;
      const letter = bytes[++at] as number;
      if (letter === slash) out[written++] = slash;
      else if (letter !== letterU) {
        if (!isShortEscape(letter)) return false;
        out[written++] = backslash;
        out[written++] = letter;
      } else {
        const unit = escapedUnit(bytes, at + 1);
        if (unit < 0) return false;
        at += 4;
        // The high surrogate was written as an escape, in case that it is alone.
        if (highEnd === escapeAt && isLowSurrogate(unit)) written = writePair(high, unit, out, written - 6);
        else {
          written = writeUnit(unit, out, written);
          if (isHighSurrogate(unit)) {
            high = unit;
            highEnd = at + 1;
          }
        }
      }
    }
  }

  #number(): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    if (bytes[at] === minus) at++;
    const first = at;
    at = digitsEnd(bytes, at);
    if (at === first || (at > first + 1 && bytes[first] === zero)) return false;
    if (bytes[at] === dot) {
      const fraction = at + 1;
      at = digitsEnd(bytes, fraction);
      if (at === fraction) return false;
    }
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      const sign = bytes[at + 1];
      const exponent = sign === plus || sign === minus ? at + 2 : at + 1;
      at = digitsEnd(bytes, exponent);
      if (at === exponent) return false;
    }
    this.#written = copied(bytes, this.#at, at, this.#out, this.#written);
    this.#at = at;
    return true;
  }

  #literal(word: Uint8Array): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < word.length; at++) if (bytes[this.#at + at] !== word[at]) return false;
    this.#written = copied(word, 0, word.length, this.#out, this.#written);
    this.#at += word.length;
    return true;
  }

  /** Copies one byte. */
  #pass(): true {
    this.#out[this.#written++] = this.#bytes[this.#at++] as number;
    return true;
  }

  /** Returns the byte behind the spaces, which are not copied. */
  #skipSpace(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#at] as number;
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++this.#at] as number;
    return byte;
  }

  /** Writes `json`, which replaces what was passed last. */
  #write(json: Uint8Array): void {
    const needed = this.#written + json.length + this.#bytes.length - this.#at;
    if (needed > this.#out.length) {
      const larger = Buffer.allocUnsafe(needed + (needed >> 1));
      larger.set(this.#out.subarray(0, this.#written));
      this.#out = larger;
    }
    this.#written = copied(json, 0, json.length, this.#out, this.#written);
  }
}

/** Returns the end of the copy. Most pieces are too short for `set` to be worth its call. */
function copied(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  let written = at;
  for (let next = start; next < end; next++) to[written++] = from[next] as number;
  return written;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  return hash;
}

/** `"`, `\`, `b`, `f`, `n`, `r`, `t`: the escapes that `JSON.stringify` writes, too. */
function isShortEscape(byte: number): boolean {
  return (
    byte === quote ||
    byte === backslash ||
    byte === letterN ||
    byte === 0x72 ||
    byte === 0x74 ||
    byte === 0x62 ||
    byte === 0x66
  );
}

function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at] as number; byte >= zero && byte <= nine; byte = bytes[at] as number) at++;
  return at;
}

const empty = Buffer.alloc(0);
