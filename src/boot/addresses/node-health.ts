import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HealthFacts, UpstreamHealthFacts } from '../../control/admin/contract.ts';
import { HealthMonitor } from '../../control/health/health-monitor.ts';
import type { Store } from '../../control/store/store.ts';
import { healthMarks } from '../../shared/entities/health-marks.ts';
import { healthConfigOf } from '../../shared/health/health-config.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';

export interface NodeHealthOptions {
  readonly settings: Settings;
  readonly nodeId: string;
  readonly zone: AddressZone;
  readonly store: Store;
  readonly log: ErrorLog;
}

/** How long a mark stays in the store for the other nodes, in milliseconds. */
const markLifetime = 60_000;

/** The health checks of the node. It sends other nodes only the health that is set by hand, as Kong does. */
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
      certificate: cachedCertificates(options.store),
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
    const { store, nodeId, log, settings } = this.#options;
    const onlyOthers = settings.role === 'control_plane';
    const outcome = onlyOthers
      ? await this.#checksOf(upstreamId)
      : this.monitor.setHealth(upstreamId, targetId, address, healthy);
    if (outcome !== 'done' || (store.kind === 'sqlite' && !onlyOthers)) return outcome;
    const health = healthy ? 'healthy' : 'unhealthy';
    const mark = { node: nodeId, upstream: upstreamId, target: targetId, address, health };
    try {
      await store.write(({ now, insert }) =>
        insert(healthMarks.name, { id: randomUUID(), created_at: now, expires_at: now + markLifetime, ...mark }),
      );
    } catch (error) {
      if (onlyOthers) throw error;
      // The change is in effect on this node; other nodes have checks of their own.
      log.warn('health that was set by hand could not be sent to other nodes', { err: error });
    }
    return outcome;
  }

  /** A control plane has no backends of its own, so it only knows whether data planes check their health. */
  async #checksOf(upstreamId: string): Promise<'done' | 'off'> {
    const upstream = await this.#options.store.get('upstreams', upstreamId);
    return healthConfigOf(upstream?.['healthchecks']) === null ? 'off' : 'done';
  }

  /** Applies the health that was set by hand on other nodes. */
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

/** Milliseconds for which a certificate is cached. */
const cacheTime = 5000;

/** Client certificates from the store. While the store is unavailable, the cached ones are still used. */
function cachedCertificates(store: Store): (id: string) => Promise<ClientCertificate> {
  const cached = new Map<string, { readonly at: number; readonly value: ClientCertificate }>();
  return async (id) => {
    const found = cached.get(id);
    if (found !== undefined && performance.now() - found.at < cacheTime) return found.value;
    try {
      const row = await store.get('certificates', id);
      const [cert, key] = [row?.['cert'], row?.['key']];
      const value = typeof cert === 'string' && typeof key === 'string' ? { cert, key } : null;
      cached.set(id, { at: performance.now(), value });
      return value;
    } catch (error) {
      if (found !== undefined) return found.value;
      throw error;
    }
  };
}
