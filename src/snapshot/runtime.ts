import type { SecureContext } from 'node:tls';
import type { Balancer } from '../balancer/balancer.ts';
import type { PassiveChecks } from '../balancer/health/health-config.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { TraceRule } from '../plugin-runner/trace-rule.ts';
import type { UpstreamTimeouts } from '../plugin-sdk/attempts.ts';
import type { PluginScope } from '../plugin-sdk/define-plugin.ts';
import type { MatchExplanation } from '../router/explain-match.ts';
import type { RoutableRoute, RouteQuery, Router } from '../router/router.ts';

/** One address of an upstream's target, or where a plain service is. */
export interface RuntimeTarget {
  /** Of the target or service. */
  readonly id: string;
  /** IP without brackets, or the name that it was resolved from: for `Host`, SNI and verification. */
  readonly host: string;
  /** Null: of a plain service whose name is resolved for each connection. */
  readonly ip: string | null;
  readonly port: number;
  readonly weight: number;
  /** Place in the address zone; 0: none. */
  readonly slot: number;
}

export interface RuntimeUpstream {
  readonly id: string;
  readonly name: string;
  readonly hostHeader: string | null;
  /** Place in the address zone. */
  readonly slot: number;
  /** Addresses with a weight above 0. */
  readonly targets: readonly RuntimeTarget[];
  /** Names of targets that are being asked for the first time. */
  readonly pending: readonly string[];
  readonly balancer: Balancer;
  /** What passes counts towards the health of an address; null: it does not. */
  readonly passive: PassiveChecks | null;
}

/** How the gateway speaks TLS to a backend; equal identities share pooled connections. */
export interface UpstreamTls {
  /** Distinguishes pools: derived from everything below. */
  readonly identity: string;
  readonly verify: boolean;
  readonly verifyDepth: number | null;
  /** PEM of the authorities trusted; null: the default ones. */
  readonly ca: readonly string[] | null;
  readonly cert: string | null;
  readonly key: string | null;
}

export interface RuntimeService {
  readonly id: string;
  readonly name: string | null;
  readonly protocol: 'http' | 'https' | 'grpc' | 'grpcs' | 'tcp' | 'tls' | 'udp' | 'tls_passthrough';
  /** Backends speak HTTP/2, and gRPC on it: `protocol` is grpc or grpcs. */
  readonly http2: boolean;
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
  readonly retries: number;
  readonly timeouts: UpstreamTimeouts;
  readonly tags: readonly string[];
  /** Set when `host` is the name of an upstream. */
  readonly upstream: RuntimeUpstream | null;
  /** The service's own address, for one without an upstream. */
  readonly target: RuntimeTarget;
  /** Host header for `target`, port appended where Kong does; the upstream's `host_header` rule is applied per target. */
  readonly hostHeader: string;
  readonly tls: UpstreamTls | null;
  /** The entity as the Admin API shows it, for log records. Always the same object, which does not change. */
  readonly row: Readonly<Record<string, unknown>>;
}

export interface RuntimeRoute extends RoutableRoute {
  /** `entityMark` of the id. */
  readonly mark: number;
  readonly name: string | null;
  readonly service: RuntimeService | null;
  readonly httpsOnly: boolean;
  readonly grpc: boolean;
  readonly httpsRedirectStatusCode: number;
  readonly stripPath: boolean;
  readonly preserveHost: boolean;
  readonly tags: readonly string[];
  /** The merged plugins of this route without a consumer. */
  readonly plan: PluginPlan;
  /** The entity as the Admin API shows it, for log records. Always the same object, which does not change. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** A certificate for TLS listeners. */
export interface RuntimeCertificate {
  readonly id: string;
  /**
   * Made at the first call and kept. `ecdsa`: whether the client takes a certificate with an EC key; only asked where there are
   * two. Throws when certificate and key do not fit.
   */
  secureContext(ecdsa: () => boolean): SecureContext;
}

/** Why a request matches what it matches. */
export interface RouteExplanation extends MatchExplanation<RuntimeRoute> {
  /** Routes that would match too, but are not in force as their service is disabled. */
  readonly disabled: readonly RuntimeRoute[];
}

/** What the data plane reads. One object for each worker; a delta swaps what it touches, between two requests. */
export interface RuntimeSnapshot {
  readonly version: number;
  readonly router: Router<RuntimeRoute>;
  /** Global plugins only: for requests that match no route. */
  readonly globalPlan: PluginPlan;
  /** Which requests are recorded; null: none. */
  readonly tracing: TraceRule | null;
  /** The plan of a route for an authenticated consumer; cached. */
  planFor(route: RuntimeRoute, consumerId: string): PluginPlan;
  /** The certificate for the server name that a TLS client asks for; null when no SNI entity names it. */
  certificateFor(serverName: string): RuntimeCertificate | null;
  /** By name; null: there is none. */
  upstream(name: string): RuntimeUpstream | null;
  /** By id or name; null: there is none, or it is disabled. */
  service(idOrName: string): RuntimeService | null;
  /** Some plugin instance needs the certificates of TLS clients. */
  readonly wantsClientCertificates: boolean;
  /** Some certificate has a second one, with another type of key. */
  readonly choosesByKey: boolean;
  /** What the authority says of a certificate (DER; both); null: nobody has given it. */
  ocspResponse(certificate: Uint8Array): Uint8Array | null;
  /** Some route is chosen by the TLS server name. */
  readonly routesByServerName: boolean;
  /** Why the request matches what it matches, and of `most` other routes why not. Looks at every route. */
  explainRoute(query: RouteQuery, most: number): RouteExplanation;
  /** What a plugin instance is attached to; none: it is global. */
  pluginScope(instanceId: string): readonly PluginScope[];
}

/** Where a worker's data plane finds its snapshot. */
export interface SnapshotHolder {
  current: RuntimeSnapshot;
}
