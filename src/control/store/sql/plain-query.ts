import type { ColumnRow, ColumnValue } from './sql-backend.ts';

/**
 * Runs a statement that is text, on one connection. What a start reads is written so: it needs no query builder, whose code takes longer
 * to load than all of it takes to read.
 */
export interface PlainQuery {
  /** What stands for the n-th parameter, from 1. */
  readonly placeholder: (n: number) => string;
  readonly run: (text: string, parameters?: readonly ColumnValue[]) => Promise<readonly ColumnRow[]>;
}

/** The name of a table or column in a text. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
