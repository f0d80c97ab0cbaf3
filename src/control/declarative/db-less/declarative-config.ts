import type { StoreWriter } from '../../store/store.ts';
import type { ConfigDocument, ConfigProblem, ConfigRows } from '../contract.ts';
import type { LeftOut } from '../declare/keep-last-good.ts';

/** The hash of a config without entities. */
export const emptyHash = '0'.repeat(32);

/** The config of a node without a database: it comes from declarative documents only. */
export interface DeclarativeConfig {
  /** MD5 of the last document as 32 hex digits, or another value when a part of it was left out; `emptyHash`: there are no entities. */
  readonly hash: string;
  /** A document is being loaded. */
  readonly busy: boolean;
  /**
   * Replaces the whole config with that of a document, as text or parsed; resolves when every worker has it. An invalid entity is left out, and its last
   * good version stays. Throws a `DocumentError` when the text cannot be read, and a `LoadError` when no part of it was loaded.
   */
  load(source: string | ConfigDocument, record: RecordLoad): Promise<LoadedConfig>;
  /** The whole config as YAML, with its secrets. */
  export(): Promise<string>;
}

/** The last step of the transaction that loads a document: says who did it, and stores audit records. Not called when nothing changes. */
export type RecordLoad = (writer: StoreWriter) => Promise<void>;

/** The outcome of a load. */
export interface LoadedConfig {
  readonly hash: string;
  /** The entities that are in use now. */
  readonly rows: ConfigRows;
  /** Empty: the whole document was loaded. */
  readonly problems: readonly ConfigProblem[];
  readonly changes: LoadedChanges;
}

export interface LoadedChanges {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** What of the document is not in use: invalid entities, and those that would be unsafe without them. */
  readonly leftOut: readonly LeftOut[];
}

/**
 * Why nothing was loaded. `busy`: another load is running. `invalid`: the document itself is wrong, such as an unknown key.
 * `timeout`: the config was stored, but not every worker has applied it in time.
 */
export class LoadError extends Error {
  readonly kind: 'busy' | 'invalid' | 'timeout';
  readonly problems: readonly ConfigProblem[];

  constructor(kind: LoadError['kind'], message: string, problems: readonly ConfigProblem[] = []) {
    super(message);
    this.name = 'LoadError';
    this.kind = kind;
    this.problems = problems;
  }
}
