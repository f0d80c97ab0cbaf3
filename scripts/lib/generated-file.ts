/** A file that is made from the code, whole or in part. */
export interface GeneratedFile {
  /** Relative to the project. */
  readonly path: string;
  readonly content: string;
}

/** Returns every file that it makes. */
export type Generator = () => Promise<readonly GeneratedFile[]>;
