import type { PlanOptions } from '../../control/declarative/apply/plan-config.ts';
import type { ConfigDocument, DocumentPath } from '../../control/declarative/contract.ts';

/** One difference, as it may be shown: without secrets. */
export interface ShownChange {
  readonly operation: 'create' | 'update' | 'delete';
  readonly entity: string;
  readonly id: string;
  readonly label?: string;
  readonly fields?: readonly string[];
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
}

export interface ApplyOutcome {
  /** Null: nothing was written. */
  readonly version: number | null;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly changes: readonly ShownChange[];
  /** Not all changes are in the list. */
  readonly truncated: boolean;
}

export interface DocumentProblem {
  /** `services[0].port`. */
  readonly place: string;
  readonly path: DocumentPath;
  readonly message: string;
}

/** The document cannot be applied. */
export class InvalidDocument extends Error {
  readonly problems: readonly DocumentProblem[];

  constructor(problems: readonly DocumentProblem[]) {
    super('the document is not valid');
    this.name = 'InvalidDocument';
    this.problems = problems;
  }
}

export interface ShownVersion {
  readonly version: number;
  readonly at: string;
  readonly actor: string | null;
  readonly action: string;
  readonly note: string | null;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

export type RollbackOutcome = Pick<ApplyOutcome, 'version' | 'created' | 'updated' | 'deleted'>;

export interface ExportOptions {
  readonly style: 'kong' | 'deck';
  readonly format: 'yaml' | 'json';
}

/** The config that a command works on: that of a running node, or of a store. Rejects with a `CliError` of one line. */
export interface ConfigTarget {
  /** Rejects with `InvalidDocument`. */
  apply(document: ConfigDocument, plan: PlanOptions, dryRun: boolean): Promise<ApplyOutcome>;
  export(options: ExportOptions): Promise<string>;
  /** Newest first. */
  versions(limit: number): Promise<readonly ShownVersion[]>;
  rollback(version: number): Promise<RollbackOutcome>;
  close(): Promise<void>;
}
