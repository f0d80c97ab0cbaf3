import {
  BodySyntaxError,
  isJsonNumber,
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
  /** Those that look through the whole body. */
  readonly #searching: readonly Rule[];
  readonly #paths: JsonPaths | null;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#searching = rules.filter(({ inBodies }) => inBodies);
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
    let value = parseJson(text);
    const paths = this.#paths;
    if (paths !== null) {
      // Filters see what was sent: neither what other rules made of it, nor numbers that are kept as text.
      const seen = paths.filters ? (JSON.parse(text) as JsonValue) : value;
      value = this.#walk(value, seen, seen, paths.start);
    }
    for (const rule of this.#searching) value = searched(value, rule);
    return jsonText(value);
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

  #walk(value: JsonValue, seen: JsonValue, root: JsonValue, state: JsonPathState): JsonValue {
    const rules = state.accepts.length === 0 ? noRules : state.accepts.map((at) => this.#rules[at] as Rule);
    // What is replaced as a whole is not looked into.
    if (rules.some(takesWhole) && value !== null) return maskedAt(value, rules);
    if (!state.ends) {
      if (Array.isArray(value)) this.#walkArray(value, seen as JsonArray, root, state);
      else if (isJsonObject(value)) this.#walkObject(value, seen as JsonObject, root, state);
    }
    return rules.length === 0 ? value : maskedAt(value, rules);
  }

  #walkArray(array: JsonArray, seen: JsonArray, root: JsonValue, state: JsonPathState): void {
    if (!state.elements) return;
    for (let at = 0; at < array.length; at++) {
      const child = seen[at] as JsonValue;
      const next = state.element(at, array.length, child, root);
      if (next.ends && next.accepts.length === 0) continue;
      array[at] = this.#walk(array[at] as JsonValue, child, root, next);
    }
  }

  #walkObject(object: JsonObject, seen: JsonObject, root: JsonValue, state: JsonPathState): void {
    for (const name of state.every ? Object.keys(object) : state.names) {
      if (!Object.hasOwn(object, name)) continue;
      const child = seen[name] as JsonValue;
      const next = state.member(name, child, root);
      if (next.ends && next.accepts.length === 0) continue;
      const value = object[name] as JsonValue;
      const masked = this.#walk(value, child, root, next);
      if (masked !== value) setMember(object, name, masked);
    }
  }
}

const noRules: readonly Rule[] = [];

function takesWhole({ search }: Rule): boolean {
  return search === null;
}

/** By each of the rules, up to the first that takes it as a whole. */
function maskedAt(value: JsonValue, rules: readonly Rule[]): JsonValue {
  let result = value;
  for (const rule of rules) {
    if (rule.search === null) return whole(result, rule);
    result = searched(result, rule);
  }
  return result;
}

/** Null hides nothing. */
function whole(value: JsonValue, rule: Rule): JsonValue {
  if (value === null) return value;
  if (typeof value === 'string') return rule.maskText(value);
  return isJsonNumber(value) ? rule.maskText(numberText(value)) : rule.maskOther(jsonText(value));
}

function numberText(value: number | JsonNumber): string {
  return typeof value === 'number' ? String(value) : value.rawJSON;
}

/** Looks through a value and all that is in it. */
function searched(value: JsonValue, rule: Rule): JsonValue {
  if (typeof value === 'string') return rule.maskText(value);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = searched(value[at] as JsonValue, rule);
    return value;
  }
  if (!isJsonObject(value)) return searchedScalar(value, rule);
  if (rule.config.mask_names) return withMaskedNames(value, rule);
  for (const name of Object.keys(value)) {
    const child = value[name] as JsonValue;
    const masked = searched(child, rule);
    if (masked !== child) setMember(value, name, masked);
  }
  return value;
}

function searchedScalar(value: JsonScalar, rule: Rule): JsonValue {
  if (!isJsonNumber(value)) return value;
  const text = numberText(value);
  const masked = rule.maskText(text);
  return masked === text ? value : masked;
}

function withMaskedNames(object: JsonObject, rule: Rule): JsonObject {
  const result: JsonObject = {};
  const turns = new Map<string, number>();
  for (const name of Object.keys(object)) {
    const masked = rule.maskText(name);
    let free = masked;
    // Members that are called alike from now on are all kept.
    while (masked !== name && (Object.hasOwn(result, free) || Object.hasOwn(object, free))) {
      const turn = (turns.get(masked) ?? 1) + 1;
      turns.set(masked, turn);
      free = `${masked} (${turn})`;
    }
    setMember(result, free, searched(object[name] as JsonValue, rule));
  }
  return result;
}
