import type { Settings } from '../../src/shared/settings/settings.ts';
import { type Rig, type RigOptions, startRig } from './rig.ts';
import { selfSigned } from './self-signed.ts';
import { testSettings } from './settings.ts';

export interface Http2Rig extends Rig {
  readonly tlsPort: number;
}

/** A rig whose plain listener and whose TLS listener speak HTTP/2 and HTTP/1.1. */
export async function startHttp2Rig(options: RigOptions = {}): Promise<Http2Rig> {
  const rig = await startRig({ ...options, settings: { ...http2Settings(), ...options.settings } });
  return Object.assign(rig, { tlsPort: rig.gateway.proxyTlsPort });
}

/** Two listeners with `http2`, one of them with TLS. */
export function http2Settings(): Partial<Settings> {
  const plain = testSettings({ prefix: '' }).proxyListen[0];
  if (plain === undefined) throw new Error('no listener to begin with');
  const { cert, key } = selfSigned('gateway.test');
  return {
    proxyListen: [
      { ...plain, http2: true },
      { ...plain, http2: true, ssl: true },
    ],
    sslCert: [cert],
    sslCertKey: [key],
  };
}
