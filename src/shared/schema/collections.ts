import { z } from 'zod';
import { type Accept, acceptorOf, addConstrained, refused } from './accept.ts';
import type { Field, FieldMeta, FieldOptions } from './field-meta.ts';
import { asField, constrained, type Presence, typeError } from './fields.ts';

type None = Record<never, never>;
type Value<F extends Field> = NonNullable<z.infer<F['zod']>>;

/** A list; order and duplicates are kept. */
export function array<E extends Field, const O extends FieldOptions = None>(
  elements: E,
  options?: O,
): Field<Presence<readonly Value<E>[], O>> {
  return list('array', elements, options) as Field<Presence<readonly Value<E>[], O>>;
}

/** A list without duplicates: the first of equal elements stays, in the order given. */
export function set<E extends Field, const O extends FieldOptions = None>(
  elements: E,
  options?: O,
): Field<Presence<readonly Value<E>[], O>> {
  return list('set', elements, options) as Field<Presence<readonly Value<E>[], O>>;
}

/** Named values, any number of them. */
export function map<K extends Field, V extends Field, const O extends FieldOptions = None>(
  keys: K,
  values: V,
  options?: O,
): Field<Presence<Readonly<Record<string, Value<V>>>, O>> {
  const meta: FieldMeta = { ...options, type: 'map', required: options?.required ?? false, keys, values };
  const base = z.record(keys.value as z.ZodType<string, string>, values.value, { error: typeError('map') });
  const value = z.preprocess(emptyListAsObject, constrained(base, meta));
  return asField(value, meta) as Field<Presence<Readonly<Record<string, Value<V>>>, O>>;
}

function list(type: 'array' | 'set', elements: Field, options: FieldOptions | undefined): Field {
  const meta: FieldMeta = { ...options, type, required: options?.required ?? false, elements };
  const base = z.array(elements.value, { error: typeError(type) });
  const prepare = type === 'set' ? withoutDuplicates : emptyObjectAsList;
  const value = z.preprocess(prepare, constrained(base, meta));
  addConstrained(value, meta, listReader(elements, prepare));
  return asField(value, meta);
}

function listReader(elements: Field, prepare: (input: unknown) => unknown): Accept {
  let accept: Accept | null = null;
  return (input) => {
    const prepared = prepare(input);
    if (!Array.isArray(prepared)) return refused;
    accept ??= acceptorOf(elements.value);
    const output: unknown[] = [];
    for (const item of prepared) {
      const value = accept(item);
      if (value === refused) return refused;
      output.push(value);
    }
    return output;
  };
}

/** Lua clients cannot distinguish an empty list from an empty object, so each is accepted as the other. */
function emptyObjectAsList(input: unknown): unknown {
  return isEmptyObject(input) ? [] : input;
}

function withoutDuplicates(input: unknown): unknown {
  if (Array.isArray(input)) return [...new Set(input)];
  return emptyObjectAsList(input);
}

function emptyListAsObject(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  // zod accepts an array as a record of its indices; a string is rejected with the right message.
  return input.length === 0 ? {} : 'not a map';
}

function isEmptyObject(input: unknown): boolean {
  return typeof input === 'object' && input !== null && !Array.isArray(input) && Object.keys(input).length === 0;
}
