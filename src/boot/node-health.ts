import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HealthFacts, UpstreamHealthFacts } from '../admin/contract.ts';
import type { AddressZone } from '../balancer/address-zone.ts';
import { HealthMonitor } from '../balancer/health/health-monitor.ts';
import { healthMarks } from '../entities/health-marks.ts';
import type { ErrorLog } from '../observability/error-log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../store/store.ts';
import type { SnapshotDelta } from '../workers/messages.ts';

export interface NodeHealthOptions {
  readonly settings: Settings;
  readonly nodeId: string;
  readonly zone: AddressZone;
  readonly store: Store;
  readonly log: ErrorLog;
}

/** How long a mark stays in the store for the other nodes, in milliseconds. */
const markLifetime = 60_000;

/** The node's health checks, and what it tells other nodes of them: only what people set, as in Kong. */
export class NodeHealth implements HealthFacts {
  readonly monitor: HealthMonitor;
  readonly #options: NodeHealthOptions;

  constructor(options: NodeHealthOptions) {
    this.#options = options;
    const { trustedCertificates } = options.settings;
    this.monitor = new HealthMonitor({
      zone: options.zone,
      log: options.log,
      authorities: trustedCertificates === null ? null : readFileSync(trustedCertificates, 'utf8'),
      certificate: rememberedCertificates(options.store),
    });
  }

  stateOf(upstreamId: string): UpstreamHealthFacts | null {
    return this.monitor.stateOf(upstreamId);
  }

  async setHealth(
    upstreamId: string,
    targetId: string,
    address: string | null,
    healthy: boolean,
  ): Promise<'done' | 'off' | 'unknown'> {
    const outcome = this.monitor.setHealth(upstreamId, targetId, address, healthy);
    const { store, nodeId, log } = this.#options;
    if (outcome !== 'done' || store.kind !== 'postgres') return outcome;
    const health = healthy ? 'healthy' : 'unhealthy';
    const mark = { node: nodeId, upstream: upstreamId, target: targetId, address, health };
    try {
      await store.write(({ now, insert }) =>
        insert(healthMarks.name, { id: randomUUID(), created_at: now, expires_at: now + markLifetime, ...mark }),
      );
    } catch (error) {
      // It holds here; other nodes have checks of their own.
      log.warn('other nodes were not told of health that was set by hand', { err: error });
    }
    return outcome;
  }

  /** Takes over what was set by hand on other nodes. */
  configChanged({ touched }: SnapshotDelta): void {
    for (const { entity, values } of touched ?? []) {
      const { node, upstream, target, address, health } = values;
      if (entity !== healthMarks.name || node === this.#options.nodeId) continue;
      if (upstream === undefined || target === undefined) continue;
      // The same change may bring the target itself, which comes into the address book right after this.
      queueMicrotask(() => this.monitor.setHealth(upstream, target, address ?? null, health === 'healthy'));
    }
  }
}

type ClientCertificate = { readonly cert: string; readonly key: string } | null;

/** How long a certificate that was read is believed, in milliseconds. */
const freshness = 5000;

/** Client certificates from the store. While it cannot be read those that are known are still used. */
function rememberedCertificates(store: Store): (id: string) => Promise<ClientCertificate> {
  const known = new Map<string, { readonly at: number; readonly value: ClientCertificate }>();
  return async (id) => {
    const found = known.get(id);
    if (found !== undefined && performance.now() - found.at < freshness) return found.value;
    try {
      const row = await store.get('certificates', id);
      const [cert, key] = [row?.['cert'], row?.['key']];
      const value = typeof cert === 'string' && typeof key === 'string' ? { cert, key } : null;
      known.set(id, { at: performance.now(), value });
      return value;
    } catch (error) {
      if (found !== undefined) return found.value;
      throw error;
    }
  };
}
