export type NodeRole = 'traditional' | 'control_plane' | 'data_plane';

/**
 * What a node reports of itself at intervals, and what `GET /nodes` shows. A newer version may add members, and an older one may lack
 * those that are optional: readers must accept both.
 */
export interface NodeReport {
  /** UUID. */
  readonly id: string;
  readonly role: NodeRole;
  readonly hostname: string;
  /** An address of its proxy listener, or of the Admin API of a control plane: `10.0.0.7:8000`; '': none. */
  readonly address: string;
  /** Of Sluicegate. */
  readonly version: string;
  /** Milliseconds since the epoch, by the clock of the node. */
  readonly startedAt: number;
  /** When the report was made, by the same clock. */
  readonly reportedAt?: number;
  /** Null: it has none yet. */
  readonly config: NodeConfigReport | null;
  readonly load: NodeLoadReport;
  /** Null: it would accept requests; else why not. */
  readonly notReady: string | null;
  /** Backends that it does not use, at most 100. */
  readonly unhealthy: readonly { readonly upstream: string; readonly address: string }[];
  /** Circuits that are not closed, at most 100. */
  readonly circuits: readonly { readonly plugin: string; readonly key: string; readonly state: string }[];
  /** Of a data plane: the control plane that it is connected to. */
  readonly controlPlane?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface NodeConfigReport {
  /** Id of the store (`FeedPosition.store`), and the version of it that all workers of the node have. */
  readonly store: string;
  readonly version: number;
  /** Milliseconds since the epoch at which the node last knew that it has everything; its config is as old as the time since. */
  readonly currentAt: number;
  /** Entities that it cannot use. */
  readonly failures: number;
}

/** The numbers to scale by. */
export interface NodeLoadReport {
  readonly requests: number;
  readonly inFlight: number;
  /** Delay of the event loop of the slowest worker in the last interval, milliseconds at the 99th percentile. */
  readonly loopDelay: number;
  /** Requests that were refused because of overload, since the start. */
  readonly shed: number;
  readonly workers: number;
}
