import { isJsonObject, type JsonObject, type JsonValue } from '../json/json.ts';
import type { PreparedSchema } from './prepare-schema.ts';

/** The types of values that a schema allows, as far as they are needed to read values from text. */
export interface Shape {
  /** Names of JSON Schema's types. Empty: the schema does not say. */
  readonly types: ReadonlySet<string>;
  readonly items: Shape | null;
  readonly members: ReadonlyMap<string, Shape>;
  /** Of additional members. */
  readonly others: Shape | null;
}

/** Subschemas may refer to each other. */
const maxParts = 200;
const nothing: Shape = Object.freeze({ types: new Set<string>(), items: null, members: new Map(), others: null });

export function shapeOf({ schema }: PreparedSchema): Shape {
  return shape(schema, schema, 0);
}

function shape(schema: JsonValue, root: JsonValue, level: number): Shape {
  if (!isJsonObject(schema)) return nothing;
  const types = new Set<string>();
  const members = new Map<string, Shape>();
  let items: Shape | null = null;
  let others: Shape | null = null;
  for (const part of partsOf(schema, root)) {
    for (const type of typesOf(part)) types.add(type);
    // A parameter contains a value, its members, and lists of them: nothing deeper.
    if (level > 1) continue;
    const { properties, items: itemSchema, additionalProperties: rest } = part;
    if (isJsonObject(itemSchema)) items ??= shape(itemSchema, root, level + 1);
    if (level > 0) continue;
    if (isJsonObject(properties)) {
      for (const [name, member] of Object.entries(properties)) members.set(name, shape(member, root, level + 1));
    }
    if (isJsonObject(rest)) others ??= shape(rest, root, level + 1);
  }
  return { types, items, members, others };
}

/** The schema itself, and its subschemas. */
function partsOf(schema: JsonObject, root: JsonValue): ReadonlySet<JsonObject> {
  const parts = new Set([schema]);
  for (const part of parts) {
    if (parts.size > maxParts) break;
    for (const name of ['allOf', 'anyOf', 'oneOf']) {
      const list = part[name];
      if (Array.isArray(list)) for (const one of list) if (isJsonObject(one)) parts.add(one);
    }
    const { $ref } = part;
    const target = typeof $ref === 'string' ? targetOf($ref, root) : undefined;
    if (isJsonObject(target)) parts.add(target);
  }
  return parts;
}

function typesOf({ type, enum: list, const: only }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string');
  const values = Array.isArray(list) ? list : only === undefined ? [] : [only];
  return values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value));
}

function targetOf(ref: string, root: JsonValue): JsonValue | undefined {
  if (!ref.startsWith('#/')) return ref === '#' ? root : undefined;
  let value: JsonValue | undefined = root;
  for (const step of ref.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A text as a value of the type; the text itself when it is not one. */
export function scalarOf(text: string, { types }: Shape): string | number | boolean | null {
  if (types.size === 0 || types.has('string')) return text;
  if ((types.has('integer') || types.has('number')) && number.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && (text === '' || text === 'null')) return null;
  return text;
}

export const anyShape = nothing;
