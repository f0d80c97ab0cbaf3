import { isJsonObject, type JsonObject, type JsonValue, setMember } from '../../plugin-kit/json/index.ts';
import { type Located, resolved } from '../../plugin-kit/openapi/index.ts';

const maxLevels = 8;
const maxValues = 1_000;

/** An example value of a schema: from its examples if it has any, else generated from its types. */
export function exampleOf(document: JsonObject, schema: Located): JsonValue {
  return new ExampleMaker(document).value(schema, 0) ?? null;
}

class ExampleMaker {
  readonly #document: JsonObject;
  #count = 0;
  readonly #open = new Set<JsonObject>();

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** Undefined: the value would be too deep or too large. */
  value(located: Located, level: number): JsonValue | undefined {
    if (level > maxLevels || ++this.#count > maxValues) return undefined;
    if (!isJsonObject(located.value)) return null;
    const { value: schema, pointer } = resolved(this.#document, located);
    if (schema === located.value) return this.#described(schema, pointer, level);
    // A recursive schema ends at its second occurrence.
    if (this.#open.has(schema)) return undefined;
    this.#open.add(schema);
    const value = this.#described(schema, pointer, level);
    this.#open.delete(schema);
    return value;
  }

  #described(schema: JsonObject, pointer: string, level: number): JsonValue | undefined {
    const given = givenExample(schema);
    if (given !== undefined) return given;
    for (const name of ['oneOf', 'anyOf'] as const) {
      const first = Array.isArray(schema[name]) ? schema[name][0] : undefined;
      if (first !== undefined) return this.#joined([{ ...schema, [name]: [] }, first], pointer, level);
    }
    if (Array.isArray(schema['allOf']) && schema['allOf'].length > 0) {
      return this.#joined([{ ...schema, allOf: [] }, ...schema['allOf']], pointer, level);
    }
    return this.#ofType(schema, pointer, level);
  }

  #ofType(schema: JsonObject, pointer: string, level: number): JsonValue | undefined {
    const { type } = schema;
    const kind = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
    if (kind === 'object' || (kind === undefined && isJsonObject(schema['properties'])))
      return this.#object(schema, pointer, level);
    if (kind === 'array') return this.#list(schema, pointer, level);
    if (kind === 'string') return textExample(schema);
    if (kind === 'integer' || kind === 'number') return numberExample(schema, kind === 'integer');
    if (kind === 'boolean') return true;
    return null;
  }

  /** Undefined: a required member would be too deep. */
  #object(schema: JsonObject, pointer: string, level: number): JsonObject | undefined {
    const object: JsonObject = {};
    const { properties, required } = schema;
    if (!isJsonObject(properties)) return object;
    for (const [name, member] of Object.entries(properties)) {
      if (isJsonObject(member) && member['writeOnly'] === true) continue;
      const value = this.value({ value: member, pointer }, level + 1);
      if (value !== undefined) setMember(object, name, value);
      else if (Array.isArray(required) && required.includes(name)) return undefined;
    }
    return object;
  }

  #list(schema: JsonObject, pointer: string, level: number): JsonValue[] {
    const { items, minItems } = schema;
    const wanted = Math.min(typeof minItems === 'number' ? Math.max(minItems, 1) : 1, 10);
    const list: JsonValue[] = [];
    for (let at = 0; items !== undefined && at < wanted; at++) {
      const value = this.value({ value: items, pointer }, level + 1);
      if (value !== undefined) list.push(value);
    }
    return list;
  }

  #joined(parts: readonly JsonValue[], pointer: string, level: number): JsonValue | undefined {
    let all: JsonValue | undefined;
    for (const part of parts) {
      if (isJsonObject(part) && !saysSomething(part)) continue;
      const value = this.value({ value: part, pointer }, level + 1);
      if (isJsonObject(all) && isJsonObject(value)) all = { ...all, ...value };
      else if (value !== undefined && !isJsonObject(all)) all = value;
    }
    return all ?? null;
  }
}

function saysSomething(schema: JsonObject): boolean {
  return [
    '$ref',
    'type',
    'properties',
    'items',
    'enum',
    'const',
    'oneOf',
    'anyOf',
    'allOf',
    'example',
    'examples',
    'default',
  ].some((name) => {
    const value = schema[name];
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  });
}

function givenExample({
  example,
  examples,
  default: usual,
  const: only,
  enum: list,
}: JsonObject): JsonValue | undefined {
  if (example !== undefined) return example;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (usual !== undefined) return usual;
  return only ?? (Array.isArray(list) ? list[0] : undefined);
}

/** A map: a document may name `constructor`. */
const ofFormat: ReadonlyMap<string, string> = new Map([
  ['date', '2026-01-31'],
  ['date-time', '2026-01-31T12:00:00Z'],
  ['time', '12:00:00Z'],
  ['duration', 'P1D'],
  ['email', 'user@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['uri-reference', '/path'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
  ['byte', 'dGV4dA=='],
]);

function textExample({ format, minLength, maxLength }: JsonObject): string {
  const text = (typeof format === 'string' ? ofFormat.get(format) : undefined) ?? 'text';
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  const least = Math.min(typeof minLength === 'number' ? minLength : 0, 1_000);
  return text.padEnd(least, 'x').slice(0, most);
}

function numberExample(schema: JsonObject, whole: boolean): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const unit = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const above =
    typeof exclusiveMinimum === 'number' ? exclusiveMinimum : exclusiveMinimum === true ? minimum : undefined;
  const below =
    typeof exclusiveMaximum === 'number' ? exclusiveMaximum : exclusiveMaximum === true ? maximum : undefined;
  if (typeof above === 'number')
    return typeof below === 'number' && !whole ? (above + below) / 2 : (Math.floor(above / unit) + 1) * unit;
  if (typeof minimum === 'number') return Math.ceil(minimum / unit) * unit;
  if (typeof below === 'number' && below <= 1) return (Math.ceil(below / unit) - 1) * unit;
  return typeof maximum === 'number' && maximum < 1 ? Math.floor(maximum / unit) * unit : unit;
}
