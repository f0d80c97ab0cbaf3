import { type ConfigDocument, DocumentError, type ReadOptions, type TextPosition } from '../contract.ts';
import { fromDeck } from '../deck/from-deck.ts';
import { hashText, hashValue } from './canonical-hash.ts';
import { maxDepth } from './limits.ts';
import { readJson } from './read-json.ts';
import { readYaml } from './read-yaml.ts';
import { textPositions } from './text-positions.ts';

type Fields = Readonly<Record<string, unknown>>;

const byteOrderMark = '\ufeff';

/**
 * Reads a document: JSON if it is JSON, otherwise YAML. Only the syntax is checked. Throws a `DocumentError` with the position. It blocks
 * the thread for about 0.15 s for each MB of YAML, and 0.02 s for each MB of JSON; the caller limits the size.
 */
export function parseDocument(text: string, options: ReadOptions = {}): ConfigDocument {
  const plain = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  const json = readJson(plain);
  const yaml = json === undefined ? readYaml(plain) : null;
  const content = yaml === null ? json : yaml.value;
  const positionOf = textPositions(plain, yaml === null ? { format: 'json' } : { format: 'yaml', pieces: yaml.pieces });
  return documentOf(checked(content, { line: 1, column: 1 }), hashText(text), positionOf, options);
}

/** The document of a body that was parsed already. Throws a `DocumentError` when it is not an object or is too deep. */
export function documentFrom(content: unknown, options: ReadOptions = {}): ConfigDocument {
  const fields = checked(content, null);
  checkDepth(fields, 0);
  return documentOf(fields, hashValue(fields), () => null, options);
}

function documentOf(
  content: Fields,
  hash: string,
  positionOf: ConfigDocument['positionOf'],
  { deck = false }: ReadOptions,
): ConfigDocument {
  const document = { content, hash, positionOf };
  return deck ? fromDeck(document) : document;
}

function checked(content: unknown, position: TextPosition | null): Fields {
  if (content === null || content === undefined || content === '') {
    throw new DocumentError('expected a declarative configuration', position);
  }
  if (typeof content !== 'object' || Array.isArray(content)) throw new DocumentError('expected an object', position);
  return content as Fields;
}

function checkDepth(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === maxDepth) throw new DocumentError(`more than ${maxDepth} levels`);
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) {
    throw new DocumentError("the key '__proto__' is not allowed");
  }
  for (const inner of Array.isArray(value) ? value : Object.values(value)) checkDepth(inner, depth + 1);
}
