import { readFileSync } from 'node:fs';
import type { Settings } from '../../shared/settings/settings.ts';
import { defaultCertificate } from './default-certificate.ts';

/**
 * `ssl_cert` and `ssl_cert_key` as PEM texts. They are read once, here: workers receive no file names, and a missing file stops the
 * start with one line. Without a configured certificate, the self-signed one in the prefix. Empty when no listener has TLS.
 */
export function listenerCertificates(settings: Settings): Pick<Settings, 'sslCert' | 'sslCertKey'> {
  const listeners = [
    ...settings.proxyListen,
    ...settings.streamListen,
    ...settings.adminListen,
    ...settings.statusListen,
    ...settings.adminGuiListen,
    ...settings.portalListen,
  ];
  if (!listeners.some((address) => address.ssl)) return { sslCert: [], sslCertKey: [] };
  if (settings.sslCert.length === 0) {
    const { cert, key } = defaultCertificate(settings.prefix);
    return { sslCert: [cert], sslCertKey: [key] };
  }
  return {
    sslCert: settings.sslCert.map((value) => pemOf('ssl_cert', value)),
    sslCertKey: settings.sslCertKey.map((value) => pemOf('ssl_cert_key', value)),
  };
}

/** `client_ssl_cert` and its key as PEM texts. */
export function clientCertificate({ clientCertificate: given }: Settings): Settings['clientCertificate'] {
  if (given === null) return null;
  return { cert: pemOf('client_ssl_cert', given.cert), key: pemOf('client_ssl_cert_key', given.key) };
}

/** A PEM text, base64 of one, or the path of a file that holds one. */
export function pemOf(name: string, value: string): string {
  if (value.includes('-----BEGIN ')) return value;
  const decoded = /^[A-Za-z0-9+/\s]+={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString('latin1') : '';
  if (decoded.includes('-----BEGIN ')) return decoded;
  try {
    return readFileSync(value, 'utf8');
  } catch (error) {
    throw new Error(`${name}: cannot read ${value}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
