import { BodySyntaxError } from '../json/body-syntax-error.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json/json.ts';
import { checkSchema, compileSchema } from './compile-schema.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { type PreparedSchema, prepareSchema } from './prepare-schema.ts';
import { SchemaError } from './schema-error.ts';

/** Reads a schema from the text of a field. `defaultDialect`: the dialect without `$schema`. Throws a `SchemaError`. */
export function schemaOfText(text: string, defaultDialect: Dialect): PreparedSchema {
  const schema = textAsJson(text);
  return prepareSchema(schema, { dialect: dialectIn(schema, defaultDialect) });
}

/** The problem of a schema, as the Admin API reports it; null: none. For the control plane. */
export function schemaProblem(text: string, defaultDialect: Dialect): string | null {
  try {
    const prepared = schemaOfText(text, defaultDialect);
    checkSchema(prepared);
    compileSchema(prepared);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

/** Throws a `SchemaError` with the position of the first JSON syntax error. */
export function textAsJson(text: string): JsonValue {
  try {
    // A bound outside the range of a double has no effect on doubles.
    parseJson(text, { maxDepth: 256 });
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof BodySyntaxError) throw new SchemaError('', error.message.replace('the body is', 'it is'));
    throw error;
  }
}

function dialectIn(schema: JsonValue, defaultDialect: Dialect): Dialect {
  const named = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (named === undefined) return defaultDialect;
  const dialect = typeof named === 'string' ? dialectOf(named) : null;
  if (dialect === null) throw new SchemaError('/$schema', 'draft-04, 06, 07, 2019-09 and 2020-12 are known');
  return dialect;
}
