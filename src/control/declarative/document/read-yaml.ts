import {
  boolCoreTag,
  CORE_SCHEMA,
  defineMappingTag,
  defineScalarTag,
  EVENT_ID,
  intCoreTag,
  load,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml';
import { DocumentError, type TextPosition } from '../contract.ts';
import { maxAliasedValues, maxAliases, maxDepth, maxMergedKeys } from './limits.ts';
import { positionAt } from './text-lines.ts';
import { piecesOf, type YamlPiece } from './yaml-pieces.ts';

/*
 * YAML 1.2 with what the parsers of Kong and decK read differently from it: `yes`, `no`, `on` and `off` are booleans (YAML 1.1), and `<<`
 * merges. A number such as `0777`, which is 511 to some and 777 to others, is refused. So are tags: none is needed.
 */

const booleans: ReadonlyMap<string, boolean> = new Map(
  [
    ['yes', true],
    ['on', true],
    ['no', false],
    ['off', false],
  ].flatMap(([word, value]) => {
    const text = String(word);
    const capital = text.charAt(0).toUpperCase() + text.slice(1);
    return [text, capital, text.toUpperCase()].map((spelling) => [spelling, value === true] as const);
  }),
);

const boolTag = defineScalarTag<boolean>(boolCoreTag.tagName, {
  ...boolCoreTag,
  implicitFirstChars: [...(boolCoreTag.implicitFirstChars ?? []), 'y', 'Y', 'n', 'N', 'o', 'O'],
  resolve: (source, isExplicit, tagName) => booleans.get(source) ?? boolCoreTag.resolve(source, isExplicit, tagName),
});

class AmbiguousNumber extends Error {
  readonly source: string;

  constructor(source: string) {
    super(`${source} may be read as an octal number: remove the leading 0, or put it in quotes`);
    this.source = source;
  }
}

const intTag = defineScalarTag<number>(intCoreTag.tagName, {
  ...intCoreTag,
  resolve: (source, isExplicit, tagName) => {
    const value = intCoreTag.resolve(source, isExplicit, tagName);
    if (value === NOT_RESOLVED || !/^[-+]?0\d/.test(source)) return value;
    throw new AmbiguousNumber(source);
  },
});

const objectTag = defineMappingTag<Record<string, unknown>>(mapTag.tagName, {
  create: mapTag.create,
  addPair: (carrier, key, value) => {
    if (typeof key !== 'string' && typeof key !== 'number') return 'a key must be text: put it in quotes';
    if (key === '__proto__') return "the key '__proto__' is not allowed";
    return mapTag.addPair(carrier, key, value);
  },
  has: mapTag.has,
  keys: mapTag.keys,
  get: mapTag.get,
  identify: mapTag.identify,
});

const schema = CORE_SCHEMA.withTags(boolTag, intTag, mergeTag, objectTag);
const loadOptions = { schema, maxDepth, maxAliases, maxTotalMergeKeys: maxMergedKeys };

/** What a text contains, and how it was read. */
export interface YamlContent {
  readonly value: unknown;
  /** Null: it was read as a whole. */
  readonly pieces: readonly YamlPiece[] | null;
}

/** The value of a YAML text with one document; null for an empty text. Throws a `DocumentError`. */
export function readYaml(text: string): YamlContent {
  const pieces = piecesOf(text);
  const joined = pieces === null ? null : readPieces(text, pieces);
  const value = joined ?? loaded(text);
  // Without an anchor there is no alias.
  if (text.includes('&')) checkExpansion(value);
  return { value, pieces: joined === null ? null : pieces };
}

/** Null: the text has to be read as a whole. */
function readPieces(text: string, pieces: readonly YamlPiece[]): Readonly<Record<string, unknown>> | null {
  const content: Record<string, unknown> = {};
  for (const { key, start, end, elements } of pieces) {
    let value: unknown;
    try {
      value = load(text.slice(start, end), loadOptions);
    } catch (error) {
      // An alias may refer to an anchor of another piece.
      if (!(error instanceof YAMLException) || /alias|anchor/.test(error.reason)) return null;
      throw documentError(text, error, start);
    }
    if (elements === null) {
      if (typeof value !== 'object' || value === null || Object.keys(value).join() !== key) return null;
      content[key] = (value as Record<string, unknown>)[key];
      continue;
    }
    if (!Array.isArray(value) || value.length !== elements.count) return null;
    const before = content[key];
    if (Array.isArray(before)) for (const item of value) before.push(item);
    else content[key] = value;
  }
  return content;
}

function loaded(text: string): unknown {
  try {
    return load(text, loadOptions);
  } catch (error) {
    throw documentError(text, error, 0);
  }
}

/** `start`: offset of the piece in which the error is. */
function documentError(text: string, error: unknown, start: number): DocumentError {
  if (error instanceof AmbiguousNumber) return new DocumentError(error.message, plainPosition(text, error.source));
  if (!(error instanceof YAMLException)) {
    return new DocumentError(error instanceof Error ? oneLine(error.message) : 'cannot be read');
  }
  if (/input is empty/.test(error.reason) && text.trim() === '') {
    return new DocumentError('expected a declarative configuration', { line: 1, column: 1 });
  }
  const { mark, reason } = error;
  const begin = positionAt(text, start);
  const position = mark === undefined ? null : { line: mark.line + begin.line, column: mark.column + 1 };
  return new DocumentError(/maxDepth/.test(reason) ? `more than ${maxDepth} levels` : oneLine(reason), position);
}

/** The first plain scalar of that text. */
function plainPosition(text: string, source: string): TextPosition | null {
  for (const event of parseEvents(text, { maxDepth })) {
    if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) continue;
    if (text.slice(event.valueStart, event.valueEnd) === source) return positionAt(text, event.valueStart);
  }
  return null;
}

const maxMessage = 200;

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, maxMessage);
}

interface Extent {
  /** Values in it, as if every alias were written out. */
  readonly values: number;
  readonly depth: number;
}

/** Refuses cycles, and aliases that multiply. Visits each value once. */
function checkExpansion(root: unknown): void {
  const known = new Map<object, Extent | null>();
  let visited = 0;
  const whole = extent(root);
  if (whole.values > visited + maxAliasedValues) {
    throw new DocumentError(`aliases expand to more than ${maxAliasedValues} additional values`);
  }

  function extent(value: unknown): Extent {
    if (typeof value !== 'object' || value === null) {
      visited++;
      return { values: 1, depth: 0 };
    }
    const before = known.get(value);
    if (before === null) throw new DocumentError('an alias refers to what contains it');
    if (before !== undefined) return before;
    visited++;
    known.set(value, null);
    let values = 1;
    let depth = 0;
    for (const inner of Array.isArray(value) ? value : Object.values(value)) {
      const own = extent(inner);
      values += own.values;
      depth = Math.max(depth, own.depth);
    }
    const result = { values, depth: depth + 1 };
    if (result.depth > maxDepth) throw new DocumentError(`more than ${maxDepth} levels`);
    known.set(value, result);
    return result;
  }
}
