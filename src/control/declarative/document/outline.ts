/** A value in the text, by a number that its outline chose. */
export interface Place {
  readonly node: number;
  /** Offset of its key, or of the value itself in a list. */
  readonly start: number;
}

/** The structure of a text: which values contain which. Read only where someone looks. */
export interface Outline {
  readonly root: Place;
  /** What an object or list contains, by key or index; null for a scalar. */
  children(node: number): ReadonlyMap<string | number, Place> | null;
}
