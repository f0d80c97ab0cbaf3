/**
 * JavaScript functions as texts in a configuration, in the gateway's realm or in a sandbox: what `pre-function` and `post-function` are
 * made of (`sluicegate/plugin-kit/functions`). The fields of their configuration are in `sluicegate/plugin-kit/functions/schema`.
 */
export { functionNeeds, functionPhases } from './function-phases.ts';
export type { FunctionConfig, FunctionPhase } from './phases.ts';
