import type { PluginCapability } from '../../../plugin-sdk/capabilities.ts';
import type { UntrustedFunctions } from '../../../plugin-sdk/tools.ts';
import type { Row } from '../../entities/entity.ts';
import type { CapabilityUse } from '../capability-use.ts';
import type { PluginCode } from '../code/plugin-code.ts';
import type { PluginPins } from '../integrity/check-pins.ts';

/** What a trial needs: `workerData` of its thread. */
export interface TrialBoot {
  /** The setting `plugins`. */
  readonly setting: readonly string[];
  readonly baseDirectory: string;
  /** The setting `plugins_integrity`. */
  readonly pins: PluginPins;
  /** Several nodes may share the store. */
  readonly sharedStore: boolean;
  /** The setting `untrusted_lua`. */
  readonly untrustedFunctions: UntrustedFunctions;
  /** Rows of the entity `plugins` that the new code must accept. */
  readonly rows: readonly Row[];
}

/** What the control plane compares of two versions of a plugin. */
export interface TriedPlugin {
  readonly name: string;
  readonly version: string;
  readonly code: PluginCode;
  /** Null: not declared. */
  readonly capabilities: readonly PluginCapability[] | null;
  /** What its code shows of them. */
  readonly uses: readonly CapabilityUse[];
  /** The entities that it adds, and the paths of the Admin API: a text that is equal if they are. */
  readonly entities: string;
  readonly adminRoutes: string;
}

/** Why code cannot be used. */
export interface PluginProblem {
  /** One line. */
  readonly message: string;
  /** Absolute path; null: not known. */
  readonly file: string | null;
  /** Counts from 1; null: not known. */
  readonly line: number | null;
  readonly column: number | null;
}

export type TrialResult =
  | { readonly ok: true; readonly plugins: readonly TriedPlugin[] }
  | { readonly ok: false; readonly problem: PluginProblem };

/** A problem whose place is not known. */
export function withoutPlace(message: string): PluginProblem {
  return { message, file: null, line: null, column: null };
}
