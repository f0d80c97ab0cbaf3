import type { WindowLimiter, WindowLimiterOptions } from '../plugin-sdk/limits.ts';
import type { LimitHost } from './limit-tools.ts';

/** Windows counted in the relational store, exact over all nodes. */
export function createClusterWindows(_options: WindowLimiterOptions, _host: LimitHost): WindowLimiter {
  throw new Error('not there yet');
}
