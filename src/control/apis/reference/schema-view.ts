import { isJsonObject, type JsonObject, type JsonValue } from '../../../plugin-kit/json/index.ts';
import { lookUp } from '../../../plugin-kit/openapi/index.ts';
import type { PropertyView, SchemaFields, SchemaView } from './api-reference.ts';
import { shownValue, textIn } from './shown-values.ts';

const maxDepth = 60;
const maxListed = 200;
/** Schemas of one reference, inline ones included. */
const maxSchemas = 50_000;

/** Makes views of schemas, and of those that they refer to. */
export class SchemaViews {
  readonly #document: JsonObject;
  readonly #shared = new Map<string, SchemaView | null>();
  readonly #waiting: string[] = [];
  #count = 0;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** Never follows a reference, so recursion in the document is none here. */
  of(value: JsonValue | undefined, depth = 0): SchemaView {
    if (typeof value === 'boolean') return value;
    if (!isJsonObject(value) || depth > maxDepth || ++this.#count > maxSchemas) return true;
    const ref = value['$ref'];
    return typeof ref === 'string' ? this.#reference(ref) : this.#fields(value, depth);
  }

  /** All that have been referred to, with those that they refer to. */
  shared(): readonly (readonly [string, SchemaView])[] {
    for (let ref = this.#waiting.pop(); ref !== undefined; ref = this.#waiting.pop()) {
      this.#shared.set(ref, this.of(lookUp(this.#document, ref, ref).value));
    }
    return [...this.#shared].map(([ref, view]) => [ref, view ?? true] as const);
  }

  #reference(ref: string): SchemaView {
    if (!this.#shared.has(ref)) {
      this.#shared.set(ref, null);
      this.#waiting.push(ref);
    }
    return { ref };
  }

  #fields(schema: JsonObject, depth: number): SchemaFields {
    const inner = (value: JsonValue | undefined): SchemaView => this.of(value, depth + 1);
    const properties = propertiesOf(schema, inner);
    const { items, additionalProperties: others } = schema;
    const choices = choicesOf(schema, inner);
    const rules = rulesOf(schema);
    return {
      type: typeOf(schema),
      ...textsOf(schema),
      ...(rules.length > 0 && { rules }),
      ...valuesOf(schema),
      ...(schema['deprecated'] === true && { deprecated: true as const }),
      ...(schema['readOnly'] === true && { readOnly: true as const }),
      ...(schema['writeOnly'] === true && { writeOnly: true as const }),
      ...(properties.length > 0 && { properties }),
      ...(items !== undefined && { items: inner(items) }),
      ...(isJsonObject(others) && { others: inner(others) }),
      ...(choices.length > 0 && { choices }),
    };
  }
}

type Inner = (value: JsonValue | undefined) => SchemaView;

function propertiesOf({ properties, required }: JsonObject, inner: Inner): readonly PropertyView[] {
  if (!isJsonObject(properties)) return [];
  const wanted = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties)
    .slice(0, maxListed)
    .map(([name, schema]) => ({ name, required: wanted.has(name), schema: inner(schema) }));
}

const choiceWords = { allOf: 'all of', anyOf: 'any of', oneOf: 'one of', not: 'not' } as const;

function choicesOf(schema: JsonObject, inner: Inner): NonNullable<SchemaFields['choices']> {
  return Object.entries(choiceWords).flatMap(([key, kind]) => {
    const value = schema[key];
    if (value === undefined) return [];
    const list = (Array.isArray(value) ? value : [value]).slice(0, maxListed);
    return [{ kind, schemas: list.map(inner) }];
  });
}

function typeOf({ type, nullable }: JsonObject): string | null {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  if (types.length === 0) return null;
  return [...types, ...(nullable === true && !types.includes('null') ? ['null'] : [])].slice(0, 10).join(' or ');
}

function textsOf(schema: JsonObject): Pick<SchemaFields, 'format' | 'title' | 'description'> {
  const names = ['format', 'title', 'description'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textIn(schema, name);
      return text === null ? [] : [[name, text]];
    }),
  );
}

function valuesOf(schema: JsonObject): Pick<SchemaFields, 'values' | 'fallback' | 'example'> {
  const { enum: listed, const: only, default: fallback, example, examples } = schema;
  const values = only === undefined ? listed : [only];
  const first = example ?? (Array.isArray(examples) ? examples[0] : undefined);
  return {
    ...(Array.isArray(values) && { values: values.slice(0, maxListed).map(shownValue) }),
    ...(fallback !== undefined && { fallback: shownValue(fallback) }),
    ...(first !== undefined && { example: shownValue(first) }),
  };
}

const limits: readonly (readonly [key: string, words: (limit: string) => string])[] = [
  ['minimum', (limit) => `≥ ${limit}`],
  ['exclusiveMinimum', (limit) => `> ${limit}`],
  ['maximum', (limit) => `≤ ${limit}`],
  ['exclusiveMaximum', (limit) => `< ${limit}`],
  ['multipleOf', (limit) => `a multiple of ${limit}`],
  ['minLength', (limit) => `min ${limit} characters`],
  ['maxLength', (limit) => `max ${limit} characters`],
  ['minItems', (limit) => `min ${limit} items`],
  ['maxItems', (limit) => `max ${limit} items`],
  ['minProperties', (limit) => `min ${limit} properties`],
  ['maxProperties', (limit) => `max ${limit} properties`],
];

function rulesOf(schema: JsonObject): readonly string[] {
  const rules = limits.flatMap(([key, words]) => (typeof schema[key] === 'number' ? [words(String(schema[key]))] : []));
  if (schema['uniqueItems'] === true) rules.push('no item twice');
  if (typeof schema['pattern'] === 'string') rules.push(`matches ${schema['pattern'].slice(0, 500)}`);
  if (schema['additionalProperties'] === false) rules.push('no other properties');
  return rules;
}
