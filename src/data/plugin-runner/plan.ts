import type { PluginNeeds } from '../../plugin-sdk/define-plugin.ts';
import type { LogMask, PluginPhases } from '../../plugin-sdk/phases.ts';
import type { TimeBudget } from '../../plugin-sdk/time-budget.ts';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import type { PluginMeter } from '../../shared/zones/plugin-meter.ts';
import type { DevelopmentPages } from '../development/development-pages.ts';

/** One configured plugin instance, set up and ready to run. */
export interface PluginInstance {
  readonly id: string;
  /** `entityMark` of the id. */
  readonly mark: number;
  readonly name: string;
  readonly priority: number;
  readonly phases: PluginPhases;
  readonly needs: PluginNeeds;
  readonly log: PluginLogger;
  /** Of the plugin: all its instances in this worker share it. */
  readonly meter: PluginMeter;
  /** Null: its phases take as long as they like. */
  readonly budget: TimeBudget | null;
  /** Counts the requests that use it; null when there is nothing to dispose of. */
  readonly lease: InstanceLease | null;
  /** Shows exceptions to clients; only with `sluicegate dev`. */
  readonly development?: DevelopmentPages;
}

/** Keeps an instance from being disposed of while a request uses it. */
export interface InstanceLease {
  users: number;
  retired: boolean;
}

/** What no log shows of a request. */
export interface SecretNames {
  /** Query arguments and header fields, in lower case, whose values are masked. */
  readonly secretArguments: ReadonlySet<string>;
  readonly secretHeaders: ReadonlySet<string>;
}

/**
 * The plugin plan: the instances that run for one combination of route, service and consumer: the most specific one of
 * each name, by descending priority. A phase that no plugin implements is an empty list, so it costs one length check.
 */
export interface PluginPlan extends SecretNames {
  /** No instance at all: the request takes the fast path. */
  readonly empty: boolean;
  readonly all: readonly PluginInstance[];
  readonly certificate: readonly PluginInstance[];
  readonly rewrite: readonly PluginInstance[];
  readonly access: readonly PluginInstance[];
  readonly backendAnswer: readonly PluginInstance[];
  readonly backendFailure: readonly PluginInstance[];
  readonly headerFilter: readonly PluginInstance[];
  readonly bodyFilter: readonly PluginInstance[];
  readonly response: readonly PluginInstance[];
  readonly log: readonly PluginInstance[];
  /** Phases of streams. */
  readonly accept: readonly PluginInstance[];
  readonly streamLog: readonly PluginInstance[];
  /** Instances that have a lease. */
  readonly leased: readonly PluginInstance[];
  /** Largest request body that a plugin of this plan may request; 0: none may. */
  readonly requestBodyLimit: number;
  /** Largest response that a plugin of this plan needs buffered; 0: none does. */
  readonly responseBodyLimit: number;
  /** Some plugin decides it for each response. */
  readonly choosesBodies: boolean;
  /** The plugins that mask logged values. */
  readonly logMasks: readonly LogMask[];
}
