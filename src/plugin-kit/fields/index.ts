/**
 * Fields that several plugins have in their schema, with Kong's names, defaults and messages: `sluicegate/plugin-kit/fields`. For
 * `schema.ts` only, because it loads the validation library.
 */

export { clientLimitChecks, clientLimitFields } from './client-limit-fields.ts';
export { rate, windowFields, windowOrderProblem } from './limit-fields.ts';
export { defaultHeaderTypeField, headerTypeField, propagationField, traceHeaderField } from './propagation-fields.ts';
export {
  endpointHeaders,
  endpointUrl,
  legacyQueueFields,
  logFields,
  type QueueDefaults,
  queueField,
} from './queue-fields.ts';
export { redisChecks, redisChecksFor, redisServer, redisShorthands } from './redis-fields.ts';
export { seconds } from './seconds-field.ts';
export {
  agentHost,
  agentPort,
  consumerIdentifier,
  consumerIdentifiers,
  metricPrefix,
  sampleRateCheck,
} from './stat-fields.ts';
