import { isIP } from 'node:net';
import type { TargetAddress, WatchedUpstream } from '../../shared/messages/upstream-addresses.ts';
import type { HealthTransition } from '../health/health-journal.ts';

/** An address of a target that gets no requests, or a target whose name has none. */
export interface FailingTarget {
  readonly upstream: { readonly id: string; readonly name: string };
  /** `target`: as configured, `backend.test:80`. */
  readonly target: { readonly id: string; readonly target: string };
  /** `10.0.0.1:80`; null: its name does not resolve. */
  readonly address: string | null;
  readonly reason: string | null;
  /** Milliseconds since the epoch; null: not known. */
  readonly since: number | null;
}

export interface AddressHealthSource {
  readonly upstreams: () => Iterable<WatchedUpstream>;
  readonly isHealthy: (slot: number) => boolean;
  /** The last changes of an upstream, the latest first. */
  readonly transitions: (
    upstreamId: string,
  ) => readonly Pick<HealthTransition, 'at' | 'address' | 'healthy' | 'reason'>[];
}

/** Every target that gets no requests because of health checks or its name. */
export function failingTargets({ upstreams, isHealthy, transitions }: AddressHealthSource): readonly FailingTarget[] {
  const failing: FailingTarget[] = [];
  for (const watched of upstreams()) {
    const { upstreamId: id, upstreamName: name, targets, addresses } = watched;
    const upstream = { id, name };
    for (const { row, error } of targets) {
      if (error === null) continue;
      const target = { id: row.id, target: String(row['target']) };
      failing.push({ upstream, target, address: null, reason: error, since: null });
    }
    for (const address of addresses) {
      if (isHealthy(address.slot)) continue;
      const row = targets.find((target) => target.row.id === address.targetId)?.row;
      const shown = nameOf(address);
      const change = transitions(id).find((one) => one.address === shown && !one.healthy);
      failing.push({
        ...{ upstream, address: shown },
        target: { id: address.targetId, target: String(row?.['target'] ?? address.host) },
        reason: change?.reason ?? null,
        since: change?.at ?? null,
      });
    }
  }
  return failing;
}

/** Where a slot of the address zone is used; null: nowhere. */
export function targetAt(
  upstreams: Iterable<WatchedUpstream>,
  slot: number,
): Omit<FailingTarget, 'reason' | 'since'> | null {
  for (const { upstreamId: id, upstreamName: name, targets, addresses } of upstreams) {
    const address = addresses.find((one) => one.slot === slot);
    if (address === undefined) continue;
    const row = targets.find((target) => target.row.id === address.targetId)?.row;
    return {
      upstream: { id, name },
      target: { id: address.targetId, target: String(row?.['target'] ?? address.host) },
      address: nameOf(address),
    };
  }
  return null;
}

function nameOf({ ip, port }: TargetAddress): string {
  return `${isIP(ip) === 6 ? `[${ip}]` : ip}:${port}`;
}
