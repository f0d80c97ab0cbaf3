import { createSecureContext } from 'node:tls';
import type { HybridSettings } from '../../shared/settings/hybrid-settings.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { pemOf } from './listener-certificates.ts';

/**
 * `cluster_cert`, its key and `cluster_ca_cert` as PEM texts, for a start and for each reload. Throws an `Error` of one line when they
 * cannot be used.
 */
export function clusterCertificates({ hybrid }: Pick<Settings, 'hybrid'>): HybridSettings | null {
  if (hybrid === null) return null;
  const cert = pemOf('cluster_cert', hybrid.cert);
  const key = pemOf('cluster_cert_key', hybrid.key);
  const ca = hybrid.ca === null ? null : pemOf('cluster_ca_cert', hybrid.ca);
  try {
    createSecureContext({ cert, key, ...(ca === null ? {} : { ca }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cluster_cert and cluster_cert_key cannot be used: ${reason}`);
  }
  return { ...hybrid, cert, key, ca };
}
