import { BodySyntaxError } from '../body-syntax-error.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import { checkSchema, compileSchema } from './compile-schema.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { type PreparedSchema, prepareSchema } from './prepare-schema.ts';
import { SchemaError } from './schema-error.ts';

/** Reads a schema that stands in a field. `usual`: the dialect of one without `$schema`. Throws a `SchemaError`. */
export function schemaOfText(text: string, usual: Dialect): PreparedSchema {
  const schema = textAsJson(text);
  return prepareSchema(schema, { dialect: dialectIn(schema, usual) });
}

/** What is wrong with a schema, for the one who configures it; null: nothing. For the control plane. */
export function schemaProblem(text: string, usual: Dialect): string | null {
  try {
    const prepared = schemaOfText(text, usual);
    checkSchema(prepared);
    compileSchema(prepared);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

/** Throws a `SchemaError` that tells where the text breaks off being JSON. */
export function textAsJson(text: string): JsonValue {
  try {
    // Numbers beyond a double bound nothing that a double could tell.
    parseJson(text, { maxDepth: 256 });
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof BodySyntaxError) throw new SchemaError('', error.message.replace('the body is', 'it is'));
    throw error;
  }
}

function dialectIn(schema: JsonValue, usual: Dialect): Dialect {
  const named = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (named === undefined) return usual;
  const dialect = typeof named === 'string' ? dialectOf(named) : null;
  if (dialect === null) throw new SchemaError('/$schema', 'draft-04, 06, 07, 2019-09 and 2020-12 are known');
  return dialect;
}
