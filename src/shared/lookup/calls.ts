import type { Row } from '../entities/entity.ts';
import type { LeaseRequest } from '../limits/limit-tools.ts';

/** The calls of a worker to the control plane. */
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
  /** `id`, a unique field, a lookup field, or, for `many`, a foreign field. */
  readonly field: string;
  readonly value: string;
  readonly many: boolean;
}

/** `version`: the minimum version of the store when the rows were read. */
export interface Found {
  readonly version: number;
  readonly rows: readonly Row[];
}

export interface CallFailure {
  readonly kind: 'unavailable' | 'invalid' | 'conflict' | 'exception';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A row that changed, of an entity that workers look up: their cached answers are out of date. */
export interface TouchedRow {
  readonly entity: string;
  readonly id: string;
  /** The values by which it can be found now: strings and ids of foreign fields. Empty when the row was removed. */
  readonly values: Readonly<Record<string, string>>;
  /** It was written and has been removed since: this node never saw what it was. */
  readonly unread?: true;
}

/** Maximum rows of one answer. */
export const maxRows = 1000;

export type CallResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: CallFailure };
