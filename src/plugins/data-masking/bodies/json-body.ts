import {
  BodySyntaxError,
  compileJsonPaths,
  isJsonObject,
  type JsonArray,
  type JsonNumber,
  type JsonObject,
  type JsonPathState,
  type JsonPaths,
  type JsonScalar,
  type JsonValue,
  jsonText,
  parseJson,
  setMember,
} from '../../../plugin-kit/json/index.ts';
import type { Rule } from '../rules/rules.ts';
import { JsonBytesMasker } from './json-bytes.ts';
import { utf8Bytes } from './text-coding.ts';

/**
 * Masks JSON bodies. Always writes them again: otherwise the first value of a duplicate name would remain. Texts that replace the
 * values at plain paths are written in one pass over the bytes; other rules need the parsed body.
 */
export class JsonMasker {
  readonly #rules: readonly Rule[];
  /** Bits of the rules that search the whole body. */
  readonly #everywhere: number;
  readonly #paths: JsonPaths | null;
  readonly #lists = new Map<number, readonly Rule[]>();
  /** Null: the rules need the parsed values. */
  readonly #bytes: JsonBytesMasker | null;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#everywhere = rules.reduce((bits, { inBodies }, at) => (inBodies ? bits | (1 << at) : bits), 0);
    const lists = rules.map(({ config }) => config.json_paths ?? []);
    this.#paths = lists.every((list) => list.length === 0) ? null : compileJsonPaths(lists);
    this.#bytes = this.#paths === null ? null : this.#bytesMasker(this.#paths);
  }

  #bytesMasker({ plain, start }: JsonPaths): JsonBytesMasker | null {
    const withPaths = this.#rules.filter(({ config }) => (config.json_paths?.length ?? 0) > 0);
    const replace = withPaths.every(({ config, search }) => search === null && config.action === 'replace');
    if (!plain || !replace || this.#everywhere !== 0) return null;
    const masks = this.#rules.map(({ config }) => Buffer.from(JSON.stringify(config.text)));
    return new JsonBytesMasker(start, masks);
  }

  /** A filter may take more than linear time. */
  get costly(): boolean {
    return this.#paths?.costly ?? false;
  }

  body(bytes: Uint8Array): Uint8Array {
    const text = utf8Bytes(bytes, 'JSON');
    return this.#bytes?.mask(text) ?? Buffer.from(this.#masked(text.toString()));
  }

  text(text: string): string {
    return this.#bytes?.mask(Buffer.from(text))?.toString() ?? this.#masked(text);
  }

  #masked(text: string): string {
    const value = parseJson(text);
    const paths = this.#paths;
    // Filters see the original body: without masked values, and with numbers instead of their text.
    const original = paths?.filters === true ? (JSON.parse(text) as JsonValue) : value;
    return jsonText(this.#walk(value, original, original, paths?.start ?? null, this.#everywhere));
  }

  /** The lines of newline-delimited JSON. */
  lines(bytes: Uint8Array): Uint8Array {
    const lines = utf8Bytes(bytes, 'JSON').toString().split('\n');
    const masked = lines.map((line, at) => {
      if (line.trim() === '') return line;
      try {
        return this.text(line);
      } catch (error) {
        if (!(error instanceof BodySyntaxError)) throw error;
        throw new BodySyntaxError('JSON', 'a line that is not', { line: at + 1, column: 1 });
      }
    });
    return Buffer.from(masked.join('\n'));
  }

  /**
   * Returns the masked value. `original`, `root`: the value and the whole body as filters see them. `state`: null if no path
   * leads here. `active`: bits of the rules that search everything here.
   */
  #walk(
    value: JsonValue,
    original: JsonValue,
    root: JsonValue,
    state: JsonPathState | null,
    active: number,
  ): JsonValue {
    let bits = active;
    let replacing: Rule | null = null;
    if (state !== null && state.accepts.length > 0) {
      for (const at of state.accepts) {
        const rule = this.#rules[at] as Rule;
        if (rule.search !== null) bits |= 1 << at;
        else {
          replacing = rule;
          break;
        }
      }
    }
    const isArray = Array.isArray(value);
    if (!isArray && !isJsonObject(value)) return this.#scalar(value, bits, replacing);
    // A value that is replaced as a whole is not searched.
    if (replacing !== null) return replacing.maskOther(jsonText(value));
    const next = state === null || state.ends ? null : state;
    if (next === null && bits === 0) return value;
    if (isArray) return this.#array(value, original as JsonArray, root, next, bits);
    return this.#object(value, original as JsonObject, root, next, bits);
  }

  #array(array: JsonArray, original: JsonArray, root: JsonValue, state: JsonPathState | null, bits: number): JsonArray {
    if (bits === 0 && !(state as JsonPathState).elements) return array;
    for (let at = 0; at < array.length; at++) {
      const child = original[at] as JsonValue;
      const next = state?.element(at, array.length, child, root) ?? null;
      array[at] = this.#walk(array[at] as JsonValue, child, root, next, bits);
    }
    return array;
  }

  #object(
    object: JsonObject,
    original: JsonObject,
    root: JsonValue,
    state: JsonPathState | null,
    bits: number,
  ): JsonObject {
    for (const name of bits !== 0 || state === null || state.every ? Object.keys(object) : state.names) {
      if (!Object.hasOwn(object, name)) continue;
      const child = original[name] as JsonValue;
      const next = state?.member(name, child, root) ?? null;
      const value = object[name] as JsonValue;
      const masked = this.#walk(value, child, root, next, bits);
      if (masked !== value) setMember(object, name, masked);
    }
    return bits === 0 ? object : withMaskedNames(object, this.#rulesOf(bits));
  }

  /** Applies the rules in order, up to the one that replaces the whole value. Null is never masked. */
  #scalar(value: JsonScalar, bits: number, replacing: Rule | null): JsonValue {
    const isText = typeof value === 'string';
    if (!isText && (typeof value === 'boolean' || value === null)) {
      return replacing === null || value === null ? value : replacing.maskOther(String(value));
    }
    const text = isText ? value : numberText(value);
    let masked = text;
    for (const rule of this.#rulesOf(bits)) masked = rule.maskText(masked);
    if (replacing !== null) return replacing.maskText(masked);
    return masked === text ? value : masked;
  }

  #rulesOf(bits: number): readonly Rule[] {
    if (bits === 0) return noRules;
    let list = this.#lists.get(bits);
    if (list === undefined) {
      list = this.#rules.filter((_, at) => (bits & (1 << at)) !== 0);
      if (this.#lists.size < 1000) this.#lists.set(bits, list);
    }
    return list;
  }
}

const noRules: readonly Rule[] = [];

function numberText(value: number | JsonNumber): string {
  return typeof value === 'number' ? String(value) : value.rawJSON;
}

/** The same object if no rule masks names. */
function withMaskedNames(object: JsonObject, rules: readonly Rule[]): JsonObject {
  const masking = rules.filter(({ config }) => config.mask_names);
  if (masking.length === 0) return object;
  const result: JsonObject = {};
  const counts = new Map<string, number>();
  for (const name of Object.keys(object)) {
    const masked = masking.reduce((text, rule) => rule.maskText(text), name);
    let free = masked;
    // Members with the same masked name get different ones, so that all are kept.
    while (masked !== name && (Object.hasOwn(result, free) || Object.hasOwn(object, free))) {
      const count = (counts.get(masked) ?? 1) + 1;
      counts.set(masked, count);
      free = `${masked} (${count})`;
    }
    setMember(result, free, object[name] as JsonValue);
  }
  return result;
}
