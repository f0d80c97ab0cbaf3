import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { RoutableStream, StreamRouter } from '../router/stream-router.ts';
import type { RuntimeCertificate, RuntimeService } from './runtime.ts';

/** A route of streams. */
export interface RuntimeStreamRoute extends RoutableStream {
  readonly name: string | null;
  readonly service: RuntimeService | null;
  readonly tags: readonly string[];
  /** The merged plugins of this route that run on streams. */
  readonly plan: PluginPlan;
}

/** What the proxying of streams reads of a snapshot. */
export interface StreamSnapshot {
  readonly streams: StreamRouter<RuntimeStreamRoute>;
  /** The certificate for the server name that a TLS client asks for; null when no SNI entity names it. */
  certificateFor(serverName: string): RuntimeCertificate | null;
}
