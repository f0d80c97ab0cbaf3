import { foreignId, number, text } from '../../shared/entities/row-fields.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import type { AddressChanges, TargetAddress } from '../../shared/messages/upstream-addresses.ts';

/**
 * One address for each target of the config. A dry run contacts none of them, so their names are not resolved, and their health does not
 * matter.
 */
export function targetAddresses({ upserts }: SnapshotDelta): AddressChanges {
  const byUpstream = new Map<string, TargetAddress[]>();
  for (const row of upserts.targets ?? []) {
    const upstream = foreignId(row, 'upstream') ?? '';
    const target = text(row, 'target') ?? '';
    const colon = target.lastIndexOf(':');
    const host = target.slice(0, Math.max(0, colon)).replace(/^\[|\]$/g, '');
    const port = Number(target.slice(colon + 1));
    const address = { targetId: row.id, host, ip: host, port, weight: number(row, 'weight', 100), slot: 0 };
    byUpstream.set(upstream, [...(byUpstream.get(upstream) ?? []), address]);
  }
  const changed = (upserts.upstreams ?? []).map((row) => ({
    upstreamId: row.id,
    upstreamName: text(row, 'name') ?? '',
    slot: 0,
    addresses: byUpstream.get(row.id) ?? [],
    pending: [],
  }));
  return { changed, dropped: [] };
}
