import { readFileSync } from 'node:fs';
import type { Settings } from '../settings/settings.ts';

/**
 * `ssl_cert` and `ssl_cert_key` as PEM texts, read here once: workers get no file names, and a file that is missing stops
 * the start with one line. Empty without a listener that needs them.
 */
export function listenerCertificates(settings: Settings): Pick<Settings, 'sslCert' | 'sslCertKey'> {
  const listeners = [
    ...settings.proxyListen,
    ...settings.streamListen,
    ...settings.adminListen,
    ...settings.statusListen,
  ];
  const secure = listeners.find((address) => address.ssl);
  if (secure === undefined) return { sslCert: [], sslCertKey: [] };
  if (settings.sslCert.length === 0 || settings.sslCertKey.length === 0) {
    throw new Error(`the listener ${secure.listener} has the flag ssl: ssl_cert and ssl_cert_key must be set`);
  }
  return {
    sslCert: settings.sslCert.map((value) => pemOf('ssl_cert', value)),
    sslCertKey: settings.sslCertKey.map((value) => pemOf('ssl_cert_key', value)),
  };
}

/** A PEM text, base64 of one, or the path of a file that holds one. */
function pemOf(name: string, value: string): string {
  if (value.includes('-----BEGIN ')) return value;
  const decoded = /^[A-Za-z0-9+/\s]+={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString('latin1') : '';
  if (decoded.includes('-----BEGIN ')) return decoded;
  try {
    return readFileSync(value, 'utf8');
  } catch (error) {
    throw new Error(`${name}: cannot read ${value}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
