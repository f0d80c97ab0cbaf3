import {
  BodySyntaxError,
  isJsonObject,
  type JsonArray,
  type JsonNumber,
  type JsonObject,
  type JsonScalar,
  type JsonValue,
  jsonText,
  parseJson,
  setMember,
} from '../../plugin-sdk/index.ts';
import { compileJsonPaths, type JsonPathState, type JsonPaths } from './json-paths.ts';
import type { Rule } from './rules.ts';
import { utf8Text } from './text-coding.ts';

/** Masks JSON bodies. Always writes them anew: of a name that occurs twice the first value would else stay. */
export class JsonMasker {
  readonly #rules: readonly Rule[];
  /** Those that look through the whole body, by their bits. */
  readonly #everywhere: number;
  readonly #paths: JsonPaths | null;
  readonly #lists = new Map<number, readonly Rule[]>();

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#everywhere = rules.reduce((bits, { inBodies }, at) => (inBodies ? bits | (1 << at) : bits), 0);
    const lists = rules.map(({ config }) => config.json_paths ?? []);
    this.#paths = lists.every((list) => list.length === 0) ? null : compileJsonPaths(lists);
  }

  /** A filter may take more time than its body lets expect. */
  get costly(): boolean {
    return this.#paths?.costly ?? false;
  }

  body(bytes: Uint8Array): Uint8Array {
    return Buffer.from(this.text(utf8Text(bytes, 'JSON')));
  }

  text(text: string): string {
    const value = parseJson(text);
    const paths = this.#paths;
    // Filters see what was sent: neither what other rules made of it, nor numbers that are kept as text.
    const seen = paths?.filters === true ? (JSON.parse(text) as JsonValue) : value;
    return jsonText(this.#walk(value, seen, seen, paths?.start ?? null, this.#everywhere));
  }

  /** The lines of newline-delimited JSON. */
  lines(bytes: Uint8Array): Uint8Array {
    const lines = utf8Text(bytes, 'JSON').split('\n');
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
   * Returns what goes in the place of the value. `seen`, `root`: the same place and the whole, as filters see them. `state`: null when no
   * path leads here. `active`: bits of the rules that look through everything here.
   */
  #walk(value: JsonValue, seen: JsonValue, root: JsonValue, state: JsonPathState | null, active: number): JsonValue {
    let bits = active;
    let taking: Rule | null = null;
    if (state !== null && state.accepts.length > 0) {
      for (const at of state.accepts) {
        const rule = this.#rules[at] as Rule;
        if (rule.search !== null) bits |= 1 << at;
        else {
          taking = rule;
          break;
        }
      }
    }
    const isArray = Array.isArray(value);
    if (!isArray && !isJsonObject(value)) return this.#scalar(value, bits, taking);
    // What is replaced as a whole is not looked into.
    if (taking !== null) return taking.maskOther(jsonText(value));
    const next = state === null || state.ends ? null : state;
    if (next === null && bits === 0) return value;
    if (isArray) return this.#array(value, seen as JsonArray, root, next, bits);
    return this.#object(value, seen as JsonObject, root, next, bits);
  }

  #array(array: JsonArray, seen: JsonArray, root: JsonValue, state: JsonPathState | null, bits: number): JsonArray {
    if (bits === 0 && !(state as JsonPathState).elements) return array;
    for (let at = 0; at < array.length; at++) {
      const child = seen[at] as JsonValue;
      const next = state?.element(at, array.length, child, root) ?? null;
      array[at] = this.#walk(array[at] as JsonValue, child, root, next, bits);
    }
    return array;
  }

  #object(
    object: JsonObject,
    seen: JsonObject,
    root: JsonValue,
    state: JsonPathState | null,
    bits: number,
  ): JsonObject {
    for (const name of bits !== 0 || state === null || state.every ? Object.keys(object) : state.names) {
      if (!Object.hasOwn(object, name)) continue;
      const child = seen[name] as JsonValue;
      const next = state?.member(name, child, root) ?? null;
      const value = object[name] as JsonValue;
      const masked = this.#walk(value, child, root, next, bits);
      if (masked !== value) setMember(object, name, masked);
    }
    return bits === 0 ? object : withMaskedNames(object, this.#rulesOf(bits));
  }

  /** By the rules in their order, up to the one that takes the whole. Null hides nothing. */
  #scalar(value: JsonScalar, bits: number, taking: Rule | null): JsonValue {
    const isText = typeof value === 'string';
    if (!isText && (typeof value === 'boolean' || value === null)) {
      return taking === null || value === null ? value : taking.maskOther(String(value));
    }
    const text = isText ? value : numberText(value);
    let masked = text;
    for (const rule of this.#rulesOf(bits)) masked = rule.maskText(masked);
    if (taking !== null) return taking.maskText(masked);
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

/** The same object when no rule masks a name of it. */
function withMaskedNames(object: JsonObject, rules: readonly Rule[]): JsonObject {
  const masking = rules.filter(({ config }) => config.mask_names);
  if (masking.length === 0) return object;
  const result: JsonObject = {};
  const turns = new Map<string, number>();
  for (const name of Object.keys(object)) {
    const masked = masking.reduce((text, rule) => rule.maskText(text), name);
    let free = masked;
    // Members that are called alike from now on are all kept.
    while (masked !== name && (Object.hasOwn(result, free) || Object.hasOwn(object, free))) {
      const turn = (turns.get(masked) ?? 1) + 1;
      turns.set(masked, turn);
      free = `${masked} (${turn})`;
    }
    setMember(result, free, object[name] as JsonValue);
  }
  return result;
}
