import type { NodeReport } from '../nodes/node-report.ts';
import type { Store } from '../store/store.ts';
import { configHash } from './config-hash.ts';
import type { ConnectedDataPlane } from './contract.ts';
import type { KnownDataPlane } from './known-data-plane.ts';

export interface KnownDataPlanesOptions {
  readonly store: Store;
  readonly connected: () => readonly ConnectedDataPlane[];
  /** Milliseconds. */
  readonly purgeDelay: number;
}

/** All data planes, by id. Rejects while the store is unavailable. */
export async function knownDataPlanes(options: KnownDataPlanesOptions): Promise<readonly KnownDataPlane[]> {
  const { store, connected, purgeDelay } = options;
  const [{ now, nodes }, { store: ofStore }] = await Promise.all([store.readNodes(), store.position()]);
  const known = new Map<string, KnownDataPlane>();
  for (const { data, seenAt } of nodes) {
    const ttl = purgeDelay - (now - seenAt);
    const report = reportOf(data);
    if (report !== null && ttl > 0) known.set(report.id, { ...ofReport(report), seenAt, ttl });
  }
  for (const node of connected()) {
    const { id, hostname, ip, version, labels, refused, certificateExpiry, configVersion } = node;
    const seenAt = Math.max(node.seenAt, known.get(id)?.seenAt ?? 0);
    const hash = configHash({ store: ofStore, version: configVersion });
    const facts = { id, hostname, ip, version, labels, refused, certificateExpiry };
    known.set(id, { ...facts, configHash: hash, seenAt, ttl: purgeDelay - Math.max(0, now - seenAt) });
  }
  return [...known.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Null: it is no data plane. A newer or older version may have written the report. */
function reportOf(data: string): NodeReport | null {
  try {
    const report = JSON.parse(data) as NodeReport;
    return report.role === 'data_plane' ? report : null;
  } catch {
    return null;
  }
}

function ofReport({ id, hostname, address, version, labels = {}, config }: NodeReport) {
  const ip = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  const hash = configHash(config ?? { store: '', version: -1 });
  return { id, hostname, ip, version, labels, configHash: hash, refused: null, certificateExpiry: null };
}
