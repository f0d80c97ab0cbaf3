import type { Row } from '../entities/entity.ts';
import type { LeaseRequest } from '../limits/limit-tools.ts';

/** What a worker may ask of the control plane. */
export type Call =
  /** The row with this value of a field; or all rows, for a foreign field. */
  | { readonly method: 'find'; readonly question: Question }
  | { readonly method: 'insert'; readonly entity: string; readonly fields: Readonly<Record<string, unknown>> }
  | {
      readonly method: 'update';
      readonly entity: string;
      readonly id: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly method: 'delete'; readonly entity: string; readonly id: string }
  | { readonly method: 'lease'; readonly requests: readonly LeaseRequest[] }
  /** Addresses of a host name. */
  | { readonly method: 'resolve'; readonly name: string }
  /** A message of a plugin to its own background part. */
  | { readonly method: 'background'; readonly plugin: string; readonly message: unknown };

export interface Question {
  readonly entity: string;
  /** `id`, a unique field, a looked-up field, or, for `many`, a foreign field. */
  readonly field: string;
  readonly value: string;
  readonly many: boolean;
}

/** `version`: the store was at least there when the rows were read. */
export interface Found {
  readonly version: number;
  readonly rows: readonly Row[];
}

export interface CallFailure {
  readonly kind: 'unavailable' | 'invalid' | 'conflict' | 'mistake';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A row that changed, of an entity that workers ask for: what they know of it is out of date. */
export interface TouchedRow {
  readonly entity: string;
  readonly id: string;
  /** By which it can be found now: texts and ids of foreign fields. Empty when the row is gone. */
  readonly values: Readonly<Record<string, string>>;
}

/** Rows of one answer at most. */
export const mostRows = 1000;
