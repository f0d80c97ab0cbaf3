import type { PluginCode } from '../plugin-loader/code/plugin-code.ts';
import type { ZoneChanges } from './zone-changes.ts';

/** A worker uses this code of some plugins from now on, or continues with what it has and says why. */
export interface PluginCodeMessage {
  readonly type: 'plugin-code';
  readonly serial: number;
  readonly codes: readonly PluginCode[];
  /** What the instances need in addition. */
  readonly zones?: ZoneChanges;
}

/** A worker counts the requests in which these plugins run, in shared memory (zones/code-counts.ts); null: no longer. */
export interface ObserveCodeMessage {
  readonly type: 'observe-code';
  readonly observation: { readonly memory: SharedArrayBuffer; readonly plugins: readonly string[] } | null;
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
