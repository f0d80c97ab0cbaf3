import type { z } from 'zod';
import { compileAttributes } from './attributes.ts';
import type { FieldMeta, FieldOptions } from './field-meta.ts';

/*
 * The short way to the value of a valid input. The zod types define what is valid, and make every error; but they allocate at each level
 * of each field, which was a third of the time of a large config. An acceptor returns the same value as its zod type, or `refused`: then
 * the zod type decides. A zod type without an acceptor is asked itself.
 */

export const refused = Symbol('refused');

/** Returns the value after validation, or `refused`. The value shares no list or record with the input. */
export type Accept = (input: unknown) => unknown;

const acceptors = new WeakMap<z.ZodType, Accept>();

/** Of a type that accepts exactly what `accept` accepts. */
export function addAcceptor(type: z.ZodType, accept: Accept): void {
  acceptors.set(type, accept);
}

/** Of a type whose constraints are `attributes`. `read` returns the value that they are checked against, or `refused`. */
export function addConstrained(type: z.ZodType, attributes: FieldOptions, read: Accept): void {
  let firstFailure: ReturnType<typeof compileAttributes> | undefined;
  acceptors.set(type, (input) => {
    const value = read(input);
    if (value === refused) return refused;
    if (firstFailure === undefined) firstFailure = compileAttributes(attributes);
    return firstFailure === null || firstFailure(value) === null ? value : refused;
  });
}

/** `refused` also means that the type has no acceptor. */
export function acceptQuickly(type: z.ZodType, input: unknown): unknown {
  const accept = acceptors.get(type);
  return accept === undefined ? refused : accept(input);
}

export function acceptorOf(type: z.ZodType): Accept {
  return acceptors.get(type) ?? ((input) => parsed(type, input));
}

/** What zod makes of a missing key depends on the object around it. */
function parsed(type: z.ZodType, input: unknown): unknown {
  if (input === undefined) return refused;
  const result = type.safeParse(input);
  return result.success ? result.data : refused;
}

/** Adds to `type`, a field of a record, what `meta` says of missing values. `value`: the type of its other values. */
export function addPresence(type: z.ZodType, value: z.ZodType, meta: FieldMeta): void {
  let known: Accept | null = null;
  const accept: Accept = (input) => {
    known ??= acceptorOf(value);
    return known(input);
  };
  acceptors.set(type, presence(accept, meta, acceptors.has(value)));
}

function presence(accept: Accept, meta: FieldMeta, copies: boolean): Accept {
  if (meta.eq === null) return (input) => (input == null ? null : refused);
  const nullable: Accept = (input) => (input === null ? null : accept(input));
  if (meta.default !== undefined) {
    const fresh = copies && isFlat(meta.default) ? () => meta.default : defaultMaker(meta.default);
    if (meta.required) return (input) => accept(input ?? fresh());
    return (input) => nullable(input === undefined ? fresh() : input);
  }
  return meta.required && !meta.auto ? accept : (input) => nullable(input ?? null);
}

/** An acceptor copies it whole. */
function isFlat(value: unknown): boolean {
  return (
    typeof value !== 'object' || value === null || Object.values(value).every((inner) => typeof inner !== 'object')
  );
}

/** Returns the default; records must not share one. */
export function defaultMaker(value: unknown): () => unknown {
  return typeof value === 'object' && value !== null ? () => structuredClone(value) : () => value;
}
