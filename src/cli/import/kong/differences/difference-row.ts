/** One row of docs/differences.md. */
export interface DifferenceRow {
  /** The heading above its table. */
  readonly section: string;
  readonly topic: string;
  /** What Kong does; empty when the page says nothing about it. */
  readonly kong: string;
  readonly sluicegate: string;
  readonly why: string;
}
