import { isObject, isSame, type Value } from '../forms/value.ts';
import { secretText } from './secrets.ts';

/** One field that differs. */
export interface Difference {
  /** `config.minute`. */
  readonly path: string;
  /** Undefined: the field was not there. */
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields in which two states of an entity differ; null: it does not exist. Records are compared field by field, lists as a whole. */
export function differencesOf(before: Value | null, after: Value | null): readonly Difference[] {
  const found: Difference[] = [];
  collect(before ?? {}, after ?? {}, '', found);
  return found;
}

function collect(before: Value, after: Value, prefix: string, found: Difference[]): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (prefix === '' && name === 'updated_at') continue;
    const [old, next] = [before[name] ?? undefined, after[name] ?? undefined];
    if (isObject(old) || isObject(next)) {
      if (isBranch(old) && isBranch(next)) {
        collect(old ?? {}, next ?? {}, `${prefix}${name}.`, found);
        continue;
      }
    }
    if (!isSame(old, next)) found.push({ path: `${prefix}${name}`, before: old, after: next });
  }
}

function isBranch(value: unknown): value is Value | undefined {
  return value === undefined || (isObject(value) && Object.keys(value).length > 0);
}

/** A value on one line. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'unset';
  if (value === secretText || value === 'REDACTED') return 'secret';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
