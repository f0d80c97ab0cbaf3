import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';

export interface NamedEntity {
  readonly id: string;
  readonly name: string | null;
}

/** A record of `GET /traffic`; docs/traffic.md describes its members. */
export interface TrafficRecord {
  readonly id: string;
  readonly at: string;
  readonly client: string;
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly status: number;
  readonly by: 'backend' | 'plugin' | 'gateway' | 'nobody';
  readonly who: string | null;
  readonly reason: string | null;
  readonly route: NamedEntity | null;
  readonly service: NamedEntity | null;
  readonly consumer: {
    readonly id: string;
    readonly username: string | null;
    readonly custom_id: string | null;
  } | null;
  readonly credential: string | null;
  readonly tries: number;
  readonly backend: string | null;
  /** Milliseconds, as the next three. */
  readonly duration: number;
  readonly gateway: number;
  readonly upstream: number | null;
  readonly receive: number | null;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly aborted: boolean;
  readonly traced: boolean;
}

export interface TrafficPage {
  readonly data: readonly TrafficRecord[];
  readonly recorder: {
    readonly state: 'always' | 'on' | 'off';
    readonly seen: number;
    readonly sampled: number;
    readonly kept: number;
  };
}

/** Records of one second, on all workers. */
export interface TrafficRate {
  readonly seen: number;
  readonly sampled: number;
  readonly dropped: number;
}

/** Maximum records of one answer. */
const pageSize = 1000;

/** `query`: filters; empty: none. */
export function readTraffic(query: string, signal?: AbortSignal): Promise<TrafficPage> {
  const path = `/traffic?size=${pageSize}${query === '' ? '' : `&${query}`}`;
  return call<TrafficPage>('GET', path, signal === undefined ? {} : { signal });
}

export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

export interface Cause {
  readonly entity: string | null;
  readonly id: string | null;
  readonly name: string | null;
  readonly field: string | null;
  readonly settings: readonly string[];
}

export interface Why {
  readonly sentence: string;
  readonly cause: Cause | null;
}

export interface RouteCondition {
  readonly condition: string;
  readonly header?: string;
  readonly wanted: readonly string[];
  readonly got: readonly string[];
}

interface RouteView {
  readonly id: string;
  readonly name: string | null;
  readonly paths: readonly string[];
  readonly service?: string | null;
}

export interface OtherRoute extends RouteView {
  readonly matches_too: boolean;
  readonly but?: string;
  readonly failed?: RouteCondition;
  readonly more_failures?: number;
  readonly met?: readonly string[];
}

export interface RouterView {
  readonly routes: number;
  readonly matched: (RouteView & { readonly conditions: readonly RouteCondition[] }) | null;
  /** Null: routes were not compared. */
  readonly others: readonly OtherRoute[] | null;
  readonly disabled: readonly RouteView[];
}

export interface PluginView {
  readonly name: string;
  readonly id: string;
  readonly scope: readonly string[];
  readonly ran: boolean;
  readonly because?: string;
  readonly ms: number;
  readonly phases: readonly {
    readonly phase: string;
    readonly ms: number | null;
    readonly decided: string;
    readonly changed: readonly string[];
  }[];
}

export interface AttemptView {
  readonly called_by?: string;
  readonly try: number;
  readonly host: string;
  readonly address: string;
  readonly connection: string;
  readonly connect_ms: number | null;
  readonly ms: number | null;
  readonly status: number | null;
  readonly failed: boolean;
  readonly error?: string;
  readonly cause?: string;
}

export interface BalancerChoice {
  readonly upstream: string;
  readonly chosen: string | null;
  readonly reason: string | null;
  readonly others: readonly { readonly address: string; readonly weight: number; readonly because: string }[];
  readonly more: number;
}

export interface Moment {
  readonly at: number;
  readonly ms: number | null;
  readonly what: string;
}

export interface RequestView {
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path_as_sent: string;
  readonly path: string | null;
  readonly query: string | null;
  readonly http_version: string;
  readonly headers: HeaderValues;
  readonly body?: unknown;
  readonly client: { readonly ip: string; readonly because: string };
  readonly connection: {
    readonly peer_ip: string;
    readonly peer_port: number;
    readonly local_port: number;
    readonly tls: {
      readonly version?: string;
      readonly cipher?: string;
      readonly server_name?: string | null;
    } | null;
  };
}

export interface AnswerView {
  readonly by: TrafficRecord['by'];
  readonly who: string | null;
  readonly status: number | null;
  readonly error: { readonly code: string; readonly message: string; readonly cause: string | null } | null;
  readonly message: string | null;
  readonly headers: HeaderValues;
  readonly trailers?: HeaderValues;
  readonly body_bytes: number;
  readonly complete: boolean;
}

/** The members of `sluicegate explain`; of a long explanation only `summary` and `why` may be left. */
export interface Explanation {
  readonly summary?: string;
  readonly why?: Why | null;
  readonly request?: RequestView;
  readonly router?: RouterView | null;
  readonly service?: {
    readonly id: string;
    readonly name: string | null;
    readonly protocol: string;
    readonly host: string;
    readonly port: number;
    readonly upstream: string | null;
  } | null;
  readonly plugins?: readonly PluginView[] | null;
  readonly upstream_request?: { readonly method: string; readonly uri: string } | null;
  readonly balancer?: readonly BalancerChoice[] | null;
  readonly attempts?: readonly AttemptView[] | null;
  readonly answer?: AnswerView;
  /** Only where bodies are recorded, and the caller may see them. */
  readonly response?: { readonly body?: unknown };
  readonly timeline?: readonly Moment[] | null;
  readonly truncated?: boolean;
}

export interface OpenedRecord extends TrafficRecord {
  readonly explanation: Explanation;
}

export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ['traffic', id],
    queryFn: ({ signal }) => call<OpenedRecord>('GET', `/traffic/${encodeURIComponent(id)}`, { signal }),
    // A record does not change, and may soon be forgotten.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}
