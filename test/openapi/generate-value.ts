/** A part of the document that is a JSON Schema 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

export type Random = () => number;

/** A small repeatable generator: the same seed gives the same requests in every run. */
export function randomSource(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

const words = ['a', 'Bee', 'x-1', 'some.text', '0', 'é', 'z'.repeat(40)];

export interface Generator {
  readonly random: Random;
  /** Follows a `$ref`. */
  readonly resolve: (schema: Schema) => Schema;
  /** Texts that match a pattern of the document. A pattern that is missing here fails the test. */
  readonly patterns: Readonly<Record<string, readonly string[]>>;
}

/** A value that is valid for the schema. */
export function generateValue(generator: Generator, given: Schema): unknown {
  const { random } = generator;
  const schema = generator.resolve(given);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return pick(random, schema['enum']);
  const choices = (schema['oneOf'] ?? schema['anyOf']) as readonly Schema[] | undefined;
  if (choices !== undefined) {
    const { oneOf: _, anyOf: __, ...rest } = schema;
    return generateValue(generator, merged(rest, generator.resolve(pick(random, choices))));
  }
  const types = Array.isArray(schema['type']) ? (schema['type'] as readonly string[]) : [String(schema['type'])];
  switch (pick(random, types)) {
    case 'null':
      return null;
    case 'boolean':
      return random() < 0.5;
    case 'integer':
      return Math.floor(numberOf(random, schema, 1));
    case 'number':
      return numberOf(random, schema, 0.5);
    case 'array':
      return arrayOf(generator, schema);
    case 'object':
      return objectOf(generator, schema);
    default:
      return textOf(generator, schema);
  }
}

function merged(schema: Schema, choice: Schema): Schema {
  const required = [...((schema['required'] ?? []) as string[]), ...((choice['required'] ?? []) as string[])];
  const properties = { ...(schema['properties'] as object), ...(choice['properties'] as object) };
  return { ...schema, ...choice, required, properties };
}

function numberOf(random: Random, schema: Schema, step: number): number {
  const exclusive = schema['exclusiveMinimum'];
  const low = typeof exclusive === 'number' ? exclusive + step : ((schema['minimum'] ?? -10) as number);
  const high = Math.max(low, (schema['maximum'] ?? low + 1000) as number);
  return pick(random, [low, high, low + Math.floor(random() * (high - low))]);
}

function arrayOf(generator: Generator, schema: Schema): unknown[] {
  const { random } = generator;
  const least = (schema['minItems'] ?? 0) as number;
  const most = Math.min((schema['maxItems'] ?? least + 3) as number, least + 3);
  const items: unknown[] = [];
  const length = least + Math.floor(random() * (most - least + 1));
  for (let tries = 0; items.length < length && tries < 100; tries++) {
    const item = generateValue(generator, (schema['items'] ?? { type: 'string' }) as Schema);
    const repeated = items.some((other) => JSON.stringify(other) === JSON.stringify(item));
    if (schema['uniqueItems'] !== true || !repeated) items.push(item);
  }
  return items;
}

function objectOf(generator: Generator, schema: Schema): Record<string, unknown> {
  const { random } = generator;
  const value: Record<string, unknown> = {};
  const required = (schema['required'] ?? []) as readonly string[];
  const share = random();
  for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    const needed = required.includes(name);
    if (member['readOnly'] === true && !needed) continue;
    if (needed || random() < share) value[name] = generateValue(generator, member);
    if (needed && value[name] === null && member['type'] !== 'null') {
      value[name] = generateValue(generator, withoutNull(generator.resolve(member)));
    }
  }
  const more = schema['additionalProperties'];
  if (typeof more === 'object' && more !== null && random() < 0.5) {
    const names = (schema['propertyNames'] ?? { type: 'string' }) as Schema;
    value[String(generateValue(generator, { type: 'string', ...names }))] = generateValue(generator, more as Schema);
  }
  return value;
}

function withoutNull(schema: Schema): Schema {
  const { type } = schema;
  return Array.isArray(type) ? { ...schema, type: type.filter((name) => name !== 'null') } : schema;
}

function textOf({ random, patterns }: Generator, schema: Schema): string {
  if (schema['format'] === 'uuid') return '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10';
  if (schema['format'] === 'date-time') return '2026-01-31T00:00:00Z';
  const pattern = schema['pattern'];
  if (typeof pattern === 'string') {
    const examples = patterns[pattern];
    if (examples === undefined) throw new Error(`no example of a text that matches ${pattern}`);
    return pick(random, examples);
  }
  const least = (schema['minLength'] ?? 0) as number;
  const most = (schema['maxLength'] ?? 1000) as number;
  const text = random() < 0.1 && least === 0 ? '' : pick(random, words);
  return text.padEnd(least, 'x').slice(0, most);
}
