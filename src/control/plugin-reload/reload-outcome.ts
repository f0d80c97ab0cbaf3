import type { PluginProblem } from '../../shared/plugin-loader/trial/trial.ts';

/** What came of a reload of plugins. */
export interface ReloadOutcome {
  /**
   * `unchanged`: the files have the code that runs. `live`: all workers run the new code. `rolled_back`: it was worse, or could not be
   * used by a worker, and all workers run the old code. `refused`: no worker has run it.
   */
  readonly state: 'unchanged' | 'live' | 'rolled_back' | 'refused';
  /** Names of the plugins whose code has changed. */
  readonly plugins: readonly string[];
  /** One line; absent: there is nothing to say. */
  readonly reason?: string;
  /** What is wrong with the code; absent: nothing, or it is not known. */
  readonly problem?: PluginProblem;
  /** Requests of the observed worker that the new code was judged by. */
  readonly judged_by?: number;
  /** Milliseconds. */
  readonly took: number;
  /** Too many versions are in the memory of this process: a new process applies it (`sluicegate upgrade`). */
  readonly needs_new_process?: true;
}

/** What `GET /plugins/reload` shows. */
export interface ReloadState {
  readonly running: boolean;
  /** Null: there was none since the start. */
  readonly last: (ReloadOutcome & { readonly ended_at: string }) | null;
  /** Versions of plugins in the memory of this process. */
  readonly versions: number;
}

/** Another reload runs. */
export class ReloadRuns extends Error {
  constructor() {
    super('another reload of plugins runs');
  }
}
