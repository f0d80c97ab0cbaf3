/** A position in a list ordered by `(created_at, id)`. */
export interface Position {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly id: string;
}
