import type { Row } from '../../shared/entities/entity.ts';
import { foreignId, number, text } from '../../shared/entities/row-fields.ts';
import { passiveChecksOf } from '../../shared/health/health-config.ts';
import type { TargetAddress, UpstreamAddresses } from '../../shared/messages/upstream-addresses.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { HashSource } from '../balancer/balancer.ts';
import { createBalancer } from '../balancer/create-balancer.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { RuntimeUpstream } from './runtime.ts';

/** An upstream, with what only the building of services needs. */
export interface BuiltUpstream extends RuntimeUpstream {
  readonly clientCertificate: string | null;
}

/** `found`: the addresses of its targets; null: the control plane has not sent them yet. */
export function buildUpstream(row: Row, found: UpstreamAddresses | null, zone: AddressZone): BuiltUpstream {
  const targets = (found?.addresses ?? []).filter(({ weight }) => weight > 0).map(runtimeTarget);
  const healthchecks = (row['healthchecks'] ?? {}) as Readonly<Record<string, unknown>>;
  const slot = found?.slot ?? 0;
  return {
    id: row.id,
    name: text(row, 'name') ?? '',
    hostHeader: text(row, 'host_header'),
    slot,
    targets,
    pending: found?.pending ?? [],
    balancer: createBalancer(text(row, 'algorithm') ?? 'round-robin', {
      slot,
      targets,
      zone,
      slots: number(row, 'slots', 10_000),
      hashOn: hashSource(row, 'hash_on'),
      hashFallback: hashSource(row, 'hash_fallback'),
      threshold: typeof healthchecks['threshold'] === 'number' ? healthchecks['threshold'] : 0,
      slowStart: number(row, 'slow_start', 0) * 1000,
    }),
    passive: passiveChecksOf(healthchecks),
    clientCertificate: foreignId(row, 'client_certificate'),
  };
}

function runtimeTarget({ targetId, host, ip, port, weight, slot }: TargetAddress): RuntimeTarget {
  return { id: targetId, host, ip, port, weight, slot };
}

function hashSource(row: Row, field: 'hash_on' | 'hash_fallback'): HashSource | null {
  const kind = text(row, field) ?? 'none';
  if (kind === 'none') return null;
  // Both sources share one cookie.
  const name = kind === 'cookie' ? text(row, 'hash_on_cookie') : text(row, `${field}_${kind}`);
  return {
    kind: kind as HashSource['kind'],
    name: (kind === 'header' ? name?.toLowerCase() : name) ?? '',
    cookiePath: text(row, 'hash_on_cookie_path') ?? '/',
  };
}
