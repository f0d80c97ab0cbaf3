import type { Row } from '../../shared/entities/entity.ts';
import type { Analytics } from '../usage/analytics.ts';
import { lengths, startOf } from '../usage/periods.ts';
import { type Grouping, TooMuchUsage, type UsageGroup } from '../usage/usage-reader.ts';

/** Ranges that the portal shows: what each part covers, and how far back. */
const ranges = {
  day: { resolution: 'minute', each: 'hour', length: lengths.day },
  month: { resolution: 'hour', each: 'day', length: 30 * lengths.day },
} as const;

export type UsageRange = keyof typeof ranges;

export function isUsageRange(text: string): text is UsageRange {
  return Object.hasOwn(ranges, text);
}

/** How often and with which success the consumer has sent requests. Null: usage is not counted, or there is too much of it. */
export async function ownUsage(analytics: Analytics | null, { id }: Row, range: UsageRange) {
  if (analytics === null) return null;
  const { resolution, each, length } = ranges[range];
  const to = analytics.now();
  const from = startOf(each, to - length);
  const filter = { resolution, from, to, where: { consumer: [id] } };
  const parts: Grouping = { by: [], time: each };
  const statuses: Grouping = { by: ['status'], time: null };
  try {
    return await analytics.read(async (reader) => {
      const [byTime, byStatus] = await reader.all(filter, [parts, statuses]);
      const sorted = [...(byTime?.values() ?? [])].sort((a, b) => a.start - b.start);
      return {
        from: from / 1000,
        to: to / 1000,
        each,
        parts: sorted.map((group) => ({ start: group.start / 1000, ...numbersOf(group) })),
        statuses: [...(byStatus?.values() ?? [])]
          .map((group) => ({ status: group.key.status, requests: group.usage.requests }))
          .sort((a, b) => b.requests - a.requests)
          .slice(0, 20),
      };
    });
  } catch (error) {
    if (error instanceof TooMuchUsage) return null;
    throw error;
  }
}

function numbersOf({ usage, clientErrors, serverErrors }: UsageGroup) {
  return { requests: usage.requests, client_errors: clientErrors, server_errors: serverErrors };
}
