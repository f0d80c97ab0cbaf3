import type { JsonValue } from '../../plugin-kit/json/index.ts';
import type { Dialect, PreparedSchema } from '../../plugin-kit/json-schema/index.ts';
import { prepareSchema, schemaOfText, textAsJson } from '../../plugin-kit/json-schema/index.ts';
import { fromKongSchema } from './kong-schema.ts';
import type { Version } from './versions.ts';

const dialects: Readonly<Record<Version, Dialect>> = {
  kong: 'draft-04',
  draft4: 'draft-04',
  draft6: 'draft-06',
  draft7: 'draft-07',
  draft201909: '2019-09',
  draft202012: '2020-12',
};

/** The schema of bodies. Throws a `SchemaError`. */
export function bodySchema(text: string, version: Version): PreparedSchema {
  if (version !== 'kong') return schemaOfText(text, dialects[version]);
  const fields: JsonValue = textAsJson(text);
  return prepareSchema(fromKongSchema(fields), { dialect: 'draft-07' });
}

/** The schema of a parameter, which is JSON Schema whatever the format of bodies is. Throws a `SchemaError`. */
export function parameterSchema(text: string, version: Version): PreparedSchema {
  return schemaOfText(text, dialects[version]);
}
