import { readFileSync } from 'node:fs';
import type { AddressZone } from '../balancer/address-zone.ts';
import { HealthMonitor } from '../balancer/health/health-monitor.ts';
import type { ErrorLog } from '../observability/error-log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../store/store.ts';

export interface NodeHealthOptions {
  readonly settings: Settings;
  readonly zone: AddressZone;
  readonly store: Store;
  readonly log: ErrorLog;
}

/** The node's health checks. */
export function createNodeHealth({ settings, zone, store, log }: NodeHealthOptions): HealthMonitor {
  const { trustedCertificates } = settings;
  return new HealthMonitor({
    zone,
    log,
    authorities: trustedCertificates === null ? null : readFileSync(trustedCertificates, 'utf8'),
    certificate: rememberedCertificates(store),
  });
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
