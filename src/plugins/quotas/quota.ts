import { storedCounterKey } from '../../plugin-kit/limits/index.ts';
import type { WindowLimit } from '../../plugin-sdk/index.ts';
import type { QuotasConfig } from './schema.ts';

export type QuotaPeriod = 'day' | 'month';

export const quotaPeriods: readonly QuotaPeriod[] = ['day', 'month'];

export function limitsOf(config: Pick<QuotasConfig, QuotaPeriod>): readonly (WindowLimit & { period: QuotaPeriod })[] {
  return quotaPeriods.flatMap((period) => {
    const limit = config[period];
    return limit === null ? [] : [{ period, limit }];
  });
}

/** Prefix of all counter keys of one instance. */
export function namespaceOf(instanceId: string): string {
  return `quotas:${instanceId}`;
}

export function counterKey(instanceId: string, period: QuotaPeriod, who: string): string {
  return storedCounterKey(namespaceOf(instanceId), period, who);
}

/** The period, in UTC, that contains an instant. Milliseconds since the epoch. */
export function spanOf(period: QuotaPeriod, instant: number): { readonly start: number; readonly end: number } {
  const date = new Date(instant);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (period === 'month') return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  return { start: Date.UTC(year, month, day), end: Date.UTC(year, month, day + 1) };
}
