import type { Row } from './entity.ts';

/** Readers of stored fields. Rows were validated when they were written; a missing field is treated as null. */

export function text(row: Row, field: string): string | null {
  const value = row[field];
  return typeof value === 'string' ? value : null;
}

export function number(row: Row, field: string, fallback: number): number {
  const value = row[field];
  return typeof value === 'number' ? value : fallback;
}

export function flag(row: Row, field: string, fallback: boolean): boolean {
  const value = row[field];
  return typeof value === 'boolean' ? value : fallback;
}

/** Services and plugin instances can be turned off. */
export function isEnabled(row: Row): boolean {
  return flag(row, 'enabled', true);
}

export function texts(row: Row, field: string): readonly string[] | null {
  const value = row[field];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : null;
}

/** The id that a foreign field holds. */
export function foreignId(row: Row, field: string): string | null {
  const value = row[field];
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' ? value.id : null;
}

/** The entity with its timestamps in whole seconds, as clients and log records see it. */
export function shownRow(row: Row): Readonly<Record<string, unknown>> {
  let shown = shownRows.get(row);
  if (shown === undefined) {
    const updatedAt = row['updated_at'];
    shown = Object.freeze({
      ...row,
      created_at: Math.floor(row.created_at / 1000),
      ...(typeof updatedAt === 'number' ? { updated_at: Math.floor(updatedAt / 1000) } : {}),
    });
    shownRows.set(row, shown);
  }
  return shown;
}

/** A row never changes, and every log record contains two of them. */
const shownRows = new WeakMap<Row, Readonly<Record<string, unknown>>>();
