import type { NamedEntity, TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import type { IpSet } from '../../shared/util/net/ip-set.ts';

/** Which records are shown. Several values of one kind are alternatives; empty or null: all. */
export interface TrafficFilter {
  /** Ids or names; '' stands for none. */
  readonly routes: readonly string[];
  readonly services: readonly string[];
  /** Ids, usernames or custom_ids; '' stands for none. */
  readonly consumers: readonly string[];
  /** From and to, both inclusive. */
  readonly statuses: readonly (readonly [number, number])[];
  /** In upper case. */
  readonly methods: readonly string[];
  /** The path begins with one of them. */
  readonly paths: readonly string[];
  readonly clients: IpSet | null;
  /** When the request began, milliseconds since the epoch: from, and before. */
  readonly since: number | null;
  readonly until: number | null;
  /** Milliseconds. */
  readonly minDuration: number;
}

/** Checks that are cheap and select much come first. */
export function matchesFilter(filter: TrafficFilter, entry: TrafficEntry): boolean {
  const { statuses, methods, paths, clients, since, until } = filter;
  if (entry.duration < filter.minDuration) return false;
  if (statuses.length > 0 && !statuses.some(([from, to]) => entry.status >= from && entry.status <= to)) return false;
  if (methods.length > 0 && !methods.includes(entry.method)) return false;
  if (paths.length > 0 && !paths.some((path) => entry.path.startsWith(path))) return false;
  if (!isNamed(filter.routes, entry.route) || !isNamed(filter.services, entry.service)) return false;
  if (!isConsumer(filter.consumers, entry.consumer)) return false;
  if (clients !== null && !clients.has(entry.client)) return false;
  if (since === null && until === null) return true;
  const at = Date.parse(entry.at);
  return (since === null || at >= since) && (until === null || at < until);
}

function isNamed(wanted: readonly string[], entity: NamedEntity | null): boolean {
  if (wanted.length === 0) return true;
  return entity === null ? wanted.includes('') : wanted.some((one) => one === entity.id || one === entity.name);
}

function isConsumer(wanted: readonly string[], consumer: TrafficEntry['consumer']): boolean {
  if (wanted.length === 0) return true;
  if (consumer === null) return wanted.includes('');
  const { id, username, custom_id: customId } = consumer;
  return wanted.some((one) => one === id || one === username || one === customId);
}
