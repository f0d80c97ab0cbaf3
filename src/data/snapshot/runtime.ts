import type { SecureContext } from 'node:tls';
import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import type { PluginScope } from '../../plugin-sdk/define-plugin.ts';
import type { PassiveChecks } from '../../shared/health/health-config.ts';
import type { Balancer } from '../balancer/balancer.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { TraceRule } from '../plugin-runner/trace-rule.ts';
import type { MatchExplanation } from '../router/explain-match.ts';
import type { RoutableRoute, RouteQuery, Router } from '../router/router.ts';

export interface RuntimeUpstream {
  readonly id: string;
  readonly name: string;
  readonly hostHeader: string | null;
  /** Slot in the address zone. */
  readonly slot: number;
  /** Addresses with a weight above 0. */
  readonly targets: readonly RuntimeTarget[];
  /** Names of targets that are being resolved for the first time. */
  readonly pending: readonly string[];
  readonly balancer: Balancer;
  /** Passive health checks; null: disabled. */
  readonly passive: PassiveChecks | null;
}

/** The TLS options for a backend; equal identities share pooled connections. */
export interface UpstreamTls {
  /** Distinguishes pools: derived from everything below. */
  readonly identity: string;
  readonly verify: boolean;
  readonly verifyDepth: number | null;
  /** PEM of the trusted authorities; null: the default ones. */
  readonly ca: readonly string[] | null;
  readonly cert: string | null;
  readonly key: string | null;
}

export interface RuntimeService {
  readonly id: string;
  readonly name: string | null;
  readonly protocol: 'http' | 'https' | 'grpc' | 'grpcs' | 'tcp' | 'tls' | 'udp' | 'tls_passthrough';
  /** Backends speak HTTP/2, and gRPC over it: `protocol` is grpc or grpcs. */
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
  /**
   * Host header for `target`, with the port where Kong appends it; the upstream's `host_header` rule is applied per
   * target.
   */
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
   * Created at the first call and cached. `ecdsa`: whether the client accepts a certificate with an EC key; only called
   * where there are two certificates. Throws when certificate and key do not match.
   */
  secureContext(ecdsa: () => boolean): SecureContext;
}

/** Why a request matches the route that it matches. */
export interface RouteExplanation extends MatchExplanation<RuntimeRoute> {
  /** Routes that would match too, but are inactive because their service is disabled. */
  readonly disabled: readonly RuntimeRoute[];
}

/** What the data plane reads. One object for each worker; a delta replaces what it changes, between two requests. */
export interface RuntimeSnapshot {
  readonly version: number;
  readonly router: Router<RuntimeRoute>;
  /** Global plugins only: for requests without a route. */
  readonly globalPlan: PluginPlan;
  /** Which requests are traced; null: none. */
  readonly tracing: TraceRule | null;
  /** The plan of a route for an authenticated consumer; cached. */
  planFor(route: RuntimeRoute, consumerId: string): PluginPlan;
  /** The certificate for the server name of a TLS client; null when no SNI entity has that name. */
  certificateFor(serverName: string): RuntimeCertificate | null;
  /** By name; null: not found. */
  upstream(name: string): RuntimeUpstream | null;
  /** By id or name; null: not found, or disabled. */
  service(idOrName: string): RuntimeService | null;
  /** Some plugin instance needs the certificates of TLS clients. */
  readonly wantsClientCertificates: boolean;
  /** Some certificate has a second one, with another key type. */
  readonly choosesByKeyType: boolean;
  /** The OCSP response for a certificate (DER; both); null: none is stored. */
  ocspResponse(certificate: Uint8Array): Uint8Array | null;
  /** Some route is chosen by the TLS server name. */
  readonly routesByServerName: boolean;
  /** Why the request matches its route, and why `most` other routes do not. Inspects every route. */
  explainRoute(query: RouteQuery, most: number): RouteExplanation;
  /** What a plugin instance is attached to; empty: it is global. */
  pluginScope(instanceId: string): readonly PluginScope[];
}

/** Holds the snapshot that a worker's data plane uses. */
export interface SnapshotHolder {
  current: RuntimeSnapshot;
}
