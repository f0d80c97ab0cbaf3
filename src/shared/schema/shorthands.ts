import { acceptQuickly, refused } from './accept.ts';
import type { Shorthand } from './fields.ts';

type Fields = Record<string, unknown>;

export interface Expansion {
  readonly output: Readonly<Fields>;
  /** What is wrong with the shorthands, by name. The output contains these unchanged. */
  readonly problems: readonly { readonly name: string; readonly message: string }[];
}

/** Replaces the shorthands of a record's input with the fields that they set. The input is not changed. */
export function expandShorthands(input: Readonly<Fields>, shorthands: ReadonlyMap<string, Shorthand>): Expansion {
  let output: Fields | undefined;
  const problems: { name: string; message: string }[] = [];
  for (const [name, shorthand] of shorthands) {
    if (!Object.hasOwn(input, name)) continue;
    const message = problemOf(output ?? input, name, shorthand);
    if (message !== null) {
      problems.push({ name, message });
      continue;
    }
    const value = input[name];
    output ??= { ...input };
    delete output[name];
    if (shorthand.replacedWith !== undefined) setAt(output, shorthand.replacedWith, value);
    else if (value !== null) Object.assign(output, shorthand.expand?.(value as never));
  }
  return { output: output ?? input, problems };
}

function problemOf(input: Readonly<Fields>, name: string, { field, replacedWith }: Shorthand): string | null {
  const value = input[name];
  if (value === null) return null;
  if (acceptQuickly(field.value, value) === refused) {
    const parsed = field.value.safeParse(value);
    if (!parsed.success) return parsed.error.issues[0]?.message ?? 'invalid value';
  }
  if (replacedWith === undefined) return null;
  const given = valueAt(input, replacedWith);
  if (given == null || JSON.stringify(given) === JSON.stringify(value)) return null;
  const path = replacedWith.join('.');
  return `both deprecated and new field are used but their values mismatch: ${name} = ${value} vs ${path} = ${given}`;
}

/** The value at a path into nested records; undefined when there is none. */
export function valueAt(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}

/** Sets a nested value in copies of the records on its path; an existing value stays. */
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
