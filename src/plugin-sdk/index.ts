/**
 * The contract between the gateway and a plugin: `sluicegate/plugin-sdk`.
 *
 * - a plugin: `definePlugin`, `PluginDescription`, `PluginNeeds` (define-plugin.ts)
 * - its phases: `PluginPhases` (phases.ts), with their contexts (contexts.ts, stream-contexts.ts)
 * - what contexts show and change: request-views.ts, response-views.ts, upstream-request-edit.ts, attempts.ts, calls.ts
 * - replies: `reply`, `replyJson`, `refuse`, `backendReply` (reply.ts)
 * - what `setup` receives: `PluginTools` (tools.ts), with entities, limits, circuits and zones
 * - modules of the control plane: admin-routes.ts, background.ts, metrics.ts
 *
 * Fields of a schema are in `sluicegate/plugin-sdk/schema`, libraries in `sluicegate/plugin-kit/*`, the test harness in
 * `sluicegate/plugin-testing`.
 */

export type * from './admin-routes.ts';
export type * from './attempts.ts';
export type * from './background.ts';
export { type BackendAnswer, type BackendCall, CallFailed, type CallFailure } from './calls.ts';
export type { PluginCapability } from './capabilities.ts';
export type * from './circuits.ts';
export type * from './contexts.ts';
export { contextKey } from './contexts.ts';
export type * from './define-plugin.ts';
export { allProtocols, definePlugin, httpProtocols, isPlugin } from './define-plugin.ts';
export {
  consumerView,
  type EntityAccess,
  EntityAccessError,
  type EntityRow,
  foreignIdOf,
} from './entity-access.ts';
export { framingHeaders, type HeaderNames, headerNames, isFramingHeader } from './header-names.ts';
export type * from './limits.ts';
export { LimiterUnavailable } from './limits.ts';
export type * from './metrics.ts';
export type * from './phases.ts';
export type * from './redis-options.ts';
export { redisOptions } from './redis-options.ts';
export type * from './reply.ts';
export { backendReply, refuse, reply, replyJson } from './reply.ts';
export type * from './request-views.ts';
export type * from './response-views.ts';
export type * from './shared-store.ts';
export type * from './stream-contexts.ts';
export { BudgetExceeded, type TimeBudget } from './time-budget.ts';
export type * from './tools.ts';
export type * from './trace.ts';
export type * from './upstream-request-edit.ts';
export type * from './zones.ts';
