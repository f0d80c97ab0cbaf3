import type { PluginCode } from '../plugin-loader/code/plugin-code.ts';
import type { ZoneChanges } from './zone-changes.ts';

/** A worker uses this code of some plugins from now on, or continues with what it has and says why. */
export interface PluginCodeMessage {
  readonly type: 'plugin-code';
  readonly serial: number;
  readonly codes: readonly PluginCode[];
  /** What the instances need in addition. */
  readonly zones?: ZoneChanges;
  /** From the first request with this code on. */
  readonly observation?: CodeObservation;
}

/** A worker counts the requests in which these plugins run, in shared memory (zones/code-counts.ts); null: no longer. */
export interface ObserveCodeMessage {
  readonly type: 'observe-code';
  readonly observation: CodeObservation | null;
}

export interface CodeObservation {
  readonly memory: SharedArrayBuffer;
  readonly plugins: readonly string[];
  /**
   * The worker returns to the code that it had before when a plugin fails more often than in the other workers, or than in these rows, one
   * for each plugin. Absent: it only counts.
   */
  readonly returnsFrom?: 'others' | readonly Uint32Array[];
}

/** The answer to a `PluginCodeMessage`. */
export interface PluginCodeAppliedMessage {
  readonly type: 'plugin-code-applied';
  readonly serial: number;
  /** Why nothing was replaced; null: all was. */
  readonly failure: PluginCodeFailure | null;
}

export interface PluginCodeFailure {
  readonly plugin: string;
  /** One line. */
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}
