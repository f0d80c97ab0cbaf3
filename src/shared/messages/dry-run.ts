import type { Call, CallResult } from '../lookup/calls.ts';
import type { PluginCode } from '../plugin-loader/code/plugin-code.ts';
import type { Settings } from '../settings/settings.ts';
import type { NamedEntity } from '../traffic/traffic-record.ts';

/** A recorded request, for a dry run. */
export interface DryRequest {
  readonly id: string;
  /** JSON of the `RawRequest`. */
  readonly raw: string;
  /** Where the request went in the dry run of the other config (`DryOutcome.sentTo`); null: not known, or nowhere. */
  readonly sentTo: string | null;
}

/** `workerData` of the thread of a dry run. */
export interface DryRunBoot {
  /** Those of the workers, without the secrets that only the control plane needs. */
  readonly settings: Settings;
  /** Directory to which relative names of plugins refer. */
  readonly baseDirectory: string;
  /** Recorded code of users' plugins. */
  readonly code: readonly PluginCode[];
  readonly nodeId: string;
  /** JSON of a `SnapshotDelta`: the whole config. */
  readonly config: string;
  /** Oldest first. */
  readonly requests: readonly DryRequest[];
  /** A row of worker vitals: the current call of a plugin. */
  readonly vitals: SharedArrayBuffer;
}

/** What would happen to a request. */
export interface DryOutcome {
  /** Null: a backend would answer, and its status is not known. */
  readonly status: number | null;
  readonly by: 'backend' | 'plugin' | 'gateway' | 'nobody';
  /** Name of the plugin, or the backend as the service names it. */
  readonly who: string | null;
  readonly reason: string | null;
  readonly route: NamedEntity | null;
  readonly service: NamedEntity | null;
  /** Backend and target of the request; null: no backend would receive it. */
  readonly sentTo: string | null;
  /** The plugin instances that would read the body of the backend's answer, with their configs; '' for none. */
  readonly readers: string;
  /** Names of those plugins. */
  readonly readerNames: readonly string[];
}

/** It cannot be said what would happen to a request. */
export interface Undecided {
  readonly reason: string;
  /** Name of the plugin that it depends on; null: none in particular. */
  readonly plugin: string | null;
}

export type DryResult =
  | { readonly outcome: DryOutcome; readonly undecided: null }
  | { readonly outcome: null; readonly undecided: Undecided };

export type FromDryRun =
  /** Of the next request. */
  | { readonly type: 'result'; readonly result: DryResult }
  | { readonly type: 'call'; readonly id: number; readonly call: Call }
  | { readonly type: 'done' }
  /** The run could not begin. One line. */
  | { readonly type: 'failed'; readonly message: string };

export type ToDryRun = { readonly type: 'answer'; readonly id: number; readonly result: CallResult };
