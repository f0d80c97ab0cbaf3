/**
 * Logs that clients or backends cannot flood: `sluicegate/plugin-kit/logging`. `outageReporter` for failures of another server,
 * `throttledLog` for anything else that can happen with every request.
 */

export { OutageLog, type OutageLogOptions } from '../../shared/util/time/outage-log.ts';
export { throttledLog } from '../../shared/util/time/throttled-log.ts';
export { type OutageReporter, outageReporter } from './outage-reporter.ts';
