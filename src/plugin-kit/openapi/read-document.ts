import { readFileSync, statSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import type { JsonObject, JsonValue } from '../json/index.ts';
import { BodySyntaxError, isJsonObject, parseJson } from '../json/index.ts';
import { SchemaError } from '../json-schema/index.ts';
import { largestDocument } from './largest-document.ts';

const maxLevels = 200;
const maxValues = 500_000;

/** Reads a document of OpenAPI 3.0 or 3.1, JSON or YAML. Throws a `SchemaError` with the problem and its location. */
export function readDocument(text: string): JsonObject {
  if (text.length > largestDocument) throw new SchemaError('', `it is larger than ${largestDocument} bytes`);
  const value = isYaml(text) ? fromYaml(text) : fromJson(text);
  if (!isJsonObject(value)) throw new SchemaError('', 'it is not an OpenAPI document');
  const { openapi, swagger } = value;
  if (swagger !== undefined) throw new SchemaError('/swagger', 'Swagger 2.0 has to be converted to OpenAPI 3 first');
  if (typeof openapi !== 'string' || !/^3\.[01]\.\d+/.test(openapi)) {
    throw new SchemaError('/openapi', 'must be a version of OpenAPI 3.0 or 3.1, as a text');
  }
  return value;
}

/** True for a text that does not begin like JSON; slow to parse. */
export function isYaml(text: string): boolean {
  return !/^\s*\{/.test(text);
}

/** The text of a local file. No message shows its content. */
export function readDocumentFile(path: string): string {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new SchemaError('', 'the file is not a regular one');
    if (facts.size > largestDocument) throw new SchemaError('', `the file is larger than ${largestDocument} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof SchemaError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new SchemaError('', `the file cannot be read (${code ?? 'unknown reason'})`);
  }
}

function fromJson(text: string): JsonValue {
  try {
    parseJson(text, { maxDepth: maxLevels });
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof BodySyntaxError) {
      // A YAML document may also begin with a bracket.
      if (/^\s*\{\s*[^"\s}]/.test(text)) return fromYaml(text);
      throw new SchemaError('', error.message.replace('the body is', 'it is'));
    }
    throw error;
  }
}

function fromYaml(text: string): JsonValue {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'silent',
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new SchemaError('', `it is not valid YAML: ${error.code} (line ${line}, column ${col})`);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 1000 });
  } catch {
    throw new SchemaError('', 'it has too many YAML aliases');
  }
  refuseSize(value);
  return value as JsonValue;
}

/** Aliases can expand a short text to a large value, or a recursive one. */
function refuseSize(value: unknown): void {
  let count = 0;
  const visit = (one: unknown, level: number): void => {
    if (typeof one !== 'object' || one === null) return;
    if (level > maxLevels) throw new SchemaError('', `it is nested deeper than ${maxLevels} levels`);
    for (const member of Object.values(one)) {
      if (++count > maxValues) throw new SchemaError('', `it has more than ${maxValues} values`);
      visit(member, level + 1);
    }
  };
  visit(value, 0);
}
