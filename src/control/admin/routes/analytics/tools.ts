import type { Analytics } from '../../../usage/analytics.ts';
import type { UsageNames } from './usage-names.ts';

/** What the handlers need. */
export interface AnalyticsTools {
  readonly analytics: Analytics;
  readonly names: UsageNames;
}
