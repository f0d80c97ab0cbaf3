import { isIP } from 'node:net';
import type { Row } from '../../../../shared/entities/entity.ts';
import type { TargetHealthFacts, UpstreamHealthFacts } from '../../contract.ts';

/** The health of a target without health checks. */
const unchecked = 'HEALTHCHECKS_OFF';

/** Kong's form of a target's addresses. */
export interface ShownHost {
  readonly host: string;
  readonly port: number;
  /** Type of the records that its name was resolved by. */
  readonly dns: string;
  readonly nodeWeight: number;
  readonly weight: ShownWeight;
  readonly addresses: readonly {
    readonly ip: string;
    readonly port: number;
    readonly weight: number;
    readonly health: string;
  }[];
}

interface ShownWeight {
  readonly total: number;
  readonly available: number;
  readonly unavailable: number;
}

/** Kong's form of a target's health. `state`: null when the node does not balance over the upstream yet. */
export function shownTarget(
  row: Row,
  state: UpstreamHealthFacts | null,
): { readonly health: string; readonly data: ShownHost } {
  const found = state?.targets.find(({ id }) => id === row.id) ?? unresolved(row);
  const checked = state?.checked === true;
  const shown = (healthy: boolean): string => (checked ? word(healthy) : unchecked);
  const total = found.addresses.reduce((sum, { weight }) => sum + weight, 0);
  const available = found.addresses.reduce((sum, { weight, healthy }) => sum + (healthy ? weight : 0), 0);
  const data: ShownHost = {
    host: found.host,
    port: found.port,
    dns: recordsOf(found),
    nodeWeight: typeof row['weight'] === 'number' ? row['weight'] : 0,
    weight: { total, available, unavailable: total - available },
    addresses: found.addresses.map(({ ip, port, weight, healthy }) => ({ ip, port, weight, health: shown(healthy) })),
  };
  const missing = found.error !== null || (checked && found.addresses.length === 0);
  return { health: missing ? 'DNS_ERROR' : shown(found.addresses.some(({ healthy }) => healthy)), data };
}

/** The health of the upstream itself: of enough of its weight. */
export function overallHealth(hosts: readonly ShownHost[], state: UpstreamHealthFacts | null) {
  const total = hosts.reduce((sum, { weight }) => sum + weight.total, 0);
  const available = hosts.reduce((sum, { weight }) => sum + weight.available, 0);
  const healthy = state?.healthy ?? total > 0;
  return {
    health: state?.checked === true ? word(healthy) : unchecked,
    balancer_health: word(healthy),
    details: { healthy, weight: { total, available, unavailable: total - available }, hosts },
    transitions: (state?.transitions ?? []).map(({ at, address, healthy: up, source, reason }) => ({
      at: at / 1000,
      address,
      health: word(up),
      source,
      reason,
    })),
  };
}

/** `ip:port` in the normal form of addresses. */
export function normalAddress(text: string): string {
  const v6 = /^\[?(?<ip>[0-9A-Fa-f:.]+)\]?:(?<port>\d{1,5})$/.exec(text)?.groups;
  const ip = v6?.['ip'] ?? '';
  if (isIP(ip) !== 6) return text;
  return `${new URL(`http://[${ip}]`).hostname}:${v6?.['port']}`;
}

function word(healthy: boolean): string {
  return healthy ? 'HEALTHY' : 'UNHEALTHY';
}

function recordsOf({ port, addresses }: TargetHealthFacts): string {
  if (addresses.some((each) => each.port !== port)) return 'SRV';
  return addresses.length > 0 && addresses.every(({ ip }) => isIP(ip) === 6) ? 'AAAA' : 'A';
}

function unresolved(row: Row): TargetHealthFacts {
  const text = String(row['target']);
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(text.slice(colon + 1));
  const weight = typeof row['weight'] === 'number' ? row['weight'] : 0;
  const addresses = isIP(host) === 0 ? [] : [{ ip: host, port, weight, healthy: true }];
  return { id: row.id, host, port, error: null, addresses };
}
