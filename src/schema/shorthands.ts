import type { RecordSchema, Shorthand } from './fields.ts';

type Fields = Record<string, unknown>;

/**
 * Replaces the shorthands of a record's input by what they stand for. The input is not changed. A value of the wrong
 * type is left where it is, so that the validation reports it under the shorthand's name.
 */
export function expandShorthands(input: Readonly<Fields>, shorthands: ReadonlyMap<string, Shorthand>): Fields {
  let output: Fields | undefined;
  for (const [name, shorthand] of shorthands) {
    if (!Object.hasOwn(input, name)) continue;
    const value = input[name];
    if (value !== null && !shorthand.field.value.safeParse(value).success) continue;
    output ??= { ...input };
    if (shorthand.replacedWith !== undefined) {
      if (isMismatch(output, shorthand.replacedWith, value)) continue;
      delete output[name];
      setAt(output, shorthand.replacedWith, value);
      continue;
    }
    delete output[name];
    if (value !== null) Object.assign(output, shorthand.expand?.(value as never));
  }
  return output ?? input;
}

/**
 * The messages for deprecated names given together with their successors and another value. They belong to the record
 * that has the shorthands.
 */
export function mismatchMessages(
  input: Readonly<Fields>,
  shorthands: ReadonlyMap<string, Shorthand>,
): ReadonlyMap<string, string> {
  const messages = new Map<string, string>();
  for (const [name, { replacedWith }] of shorthands) {
    if (replacedWith === undefined || !Object.hasOwn(input, name)) continue;
    const value = input[name];
    if (!isMismatch(input, replacedWith, value)) continue;
    const path = replacedWith.join('.');
    messages.set(
      name,
      `both deprecated and new field are used but their values mismatch: ${name} = ${value} vs ${path} = ${valueAt(input, replacedWith)}`,
    );
  }
  return messages;
}

/** Adds the deprecated names with the values of their successors, at every level, as Kong echoes them. */
export function presentShorthands(schema: RecordSchema, value: unknown): unknown {
  if (!hasAliases(schema) || typeof value !== 'object' || value === null) return value;
  const output: Fields = { ...value };
  for (const [name, field] of schema.fields) {
    if ('shorthands' in field) output[name] = presentShorthands(field as RecordSchema, output[name]);
  }
  for (const [name, { replacedWith }] of schema.shorthands) {
    if (replacedWith !== undefined) output[name] = valueAt(value, replacedWith) ?? null;
  }
  return output;
}

const knownAliases = new WeakMap<RecordSchema, boolean>();

function hasAliases(schema: RecordSchema): boolean {
  let known = knownAliases.get(schema);
  if (known === undefined) {
    const inner = [...schema.fields.values()].filter((field): field is RecordSchema => 'shorthands' in field);
    known =
      [...schema.shorthands.values()].some(({ replacedWith }) => replacedWith !== undefined) || inner.some(hasAliases);
    knownAliases.set(schema, known);
  }
  return known;
}

function isMismatch(input: Readonly<Fields>, path: readonly string[], value: unknown): boolean {
  const given = valueAt(input, path);
  return given != null && value != null && JSON.stringify(given) !== JSON.stringify(value);
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}

/** Sets a nested value in copies of the records on the way; a value given there already stays. */
function setAt(target: Fields, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined) return;
  if (rest.length === 0) {
    if (target[name] == null) target[name] = value;
    return;
  }
  const inner = target[name];
  if (inner != null && (typeof inner !== 'object' || Array.isArray(inner))) return;
  const copy: Fields = { ...(inner as Fields | null | undefined) };
  target[name] = copy;
  setAt(copy, rest, value);
}
