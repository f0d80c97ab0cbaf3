/** The supported dialects of JSON Schema. OpenAPI 3.0 has its own; OpenAPI 3.1 uses 2020-12. */
export type Dialect = 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12' | 'openapi-3.0' | 'openapi-3.1';

const byUri: ReadonlyMap<string, Dialect> = new Map([
  ['http://json-schema.org/draft-04/schema', 'draft-04'],
  ['http://json-schema.org/draft-06/schema', 'draft-06'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/** The dialect of a `$schema`; null: unknown. */
export function dialectOf(uri: string): Dialect | null {
  return (
    byUri.get(uri.replace(/#$/, '').replace(/^https?:\/\/json-schema\.org\/draft-/, 'http://json-schema.org/draft-')) ??
    null
  );
}

/** The dialect whose rules the validator applies: older ones are rewritten to it. */
export type CoreDialect = 'draft-07' | '2019-09' | '2020-12';

export function coreDialect(dialect: Dialect): CoreDialect {
  if (dialect === '2019-09' || dialect === '2020-12') return dialect;
  return dialect === 'openapi-3.1' ? '2020-12' : 'draft-07';
}

type Place = 'schema' | 'schemas' | 'named schemas' | 'either' | 'dependencies';

/** Keywords that contain schemas. All other keywords contain values. */
export const schemaPlaces: Readonly<Record<string, Place>> = {
  additionalItems: 'schema',
  additionalProperties: 'schema',
  contains: 'schema',
  contentSchema: 'schema',
  else: 'schema',
  if: 'schema',
  items: 'either',
  not: 'schema',
  propertyNames: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: 'schema',
  unevaluatedItems: 'schema',
  unevaluatedProperties: 'schema',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  prefixItems: 'schemas',
  $defs: 'named schemas',
  definitions: 'named schemas',
  dependentSchemas: 'named schemas',
  patternProperties: 'named schemas',
  properties: 'named schemas',
  dependencies: 'dependencies',
};

const since07 = (
  '$comment $defs $id $ref $schema additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType ' +
  'default definitions dependencies description else enum examples exclusiveMaximum exclusiveMinimum format if items maxItems ' +
  'maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties ' +
  'properties propertyNames readOnly required then title type uniqueItems writeOnly'
).split(' ');
const since2019 = [
  ...since07,
  ...'$anchor $recursiveAnchor $recursiveRef $vocabulary contentSchema dependentRequired dependentSchemas deprecated maxContains minContains'.split(
    ' ',
  ),
  ...'unevaluatedItems unevaluatedProperties'.split(' '),
];
const since2020 = [...since2019, '$dynamicAnchor', '$dynamicRef', 'prefixItems'];

const keywords: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  'draft-04': new Set([...since07, 'id']),
  'draft-06': new Set(since07),
  'draft-07': new Set(since07),
  '2019-09': new Set(since2019),
  '2020-12': new Set(since2020),
  'openapi-3.0': new Set([...since07, 'deprecated', 'discriminator', 'example', 'externalDocs', 'nullable', 'xml']),
  'openapi-3.1': new Set([...since2020, 'discriminator', 'example', 'externalDocs', 'xml']),
};

export function isKeyword(name: string, dialect: Dialect): boolean {
  return keywords[dialect].has(name);
}

/** Annotations: they have no effect on validation. */
export const annotations: ReadonlySet<string> = new Set(
  '$comment $schema $vocabulary contentEncoding contentMediaType contentSchema default deprecated description discriminator example examples externalDocs readOnly title writeOnly xml'.split(
    ' ',
  ),
);
