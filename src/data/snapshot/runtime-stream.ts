import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { RoutableStream, StreamRouter } from '../router/stream-router.ts';
import type { RuntimeService, RuntimeSnapshot } from './runtime.ts';

/** A stream route. */
export interface RuntimeStreamRoute extends RoutableStream {
  /** `entityMark` of the id. */
  readonly mark: number;
  readonly name: string | null;
  readonly service: RuntimeService | null;
  readonly tags: readonly string[];
  /** The merged plugins of this route that run on streams. */
  readonly plan: PluginPlan;
  /** The entity as the Admin API shows it, for log records. Always the same object, which does not change. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** What the stream proxy reads from a snapshot. */
export interface StreamSnapshot extends RuntimeSnapshot {
  readonly streams: StreamRouter<RuntimeStreamRoute>;
}
