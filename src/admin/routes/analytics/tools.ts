import type { Analytics } from '../../../analytics/analytics.ts';
import type { UsageNames } from './usage-names.ts';

/** What the handlers work with. */
export interface AnalyticsTools {
  readonly analytics: Analytics;
  readonly names: UsageNames;
}
