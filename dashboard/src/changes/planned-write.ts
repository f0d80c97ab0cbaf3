/** A write of the Admin API that has not been sent. */
export interface PlannedWrite {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Without a query. */
  readonly path: string;
  readonly body?: unknown;
}
