import { X509Certificate } from 'node:crypto';
import type { ListenerTls, Settings } from '../../shared/settings/settings.ts';
import { pemOf } from './listener-certificates.ts';

type AdminCertificates = Pick<Settings, 'adminTls' | 'statusTls' | 'adminGuiTls' | 'adminClientCa'>;

/**
 * The certificates of the Admin API, the status API and the dashboard as PEM texts, for a start and for each reload. Throws an `Error` of one line when a
 * file is missing or an authority is no certificate.
 */
export function adminCertificates(settings: Settings): AdminCertificates {
  return {
    adminTls: pemsOf('admin_ssl_cert', settings.adminTls),
    statusTls: pemsOf('status_ssl_cert', settings.statusTls),
    adminGuiTls: pemsOf('admin_gui_ssl_cert', settings.adminGuiTls),
    adminClientCa: settings.adminClientCa.map((value) => authorities(pemOf('admin_ssl_client_ca', value))),
  };
}

function pemsOf(name: string, { cert, key }: ListenerTls): ListenerTls {
  return {
    cert: cert.map((value) => pemOf(name, value)),
    key: key.map((value) => pemOf(`${name}_key`, value)),
  };
}

/** Node ignores what it cannot read among the authorities. Without any, no client could connect, and nobody would know why. */
function authorities(pem: string): string {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new Error('admin_ssl_client_ca contains no certificate');
  for (const one of found) {
    try {
      new X509Certificate(one);
    } catch {
      throw new Error('admin_ssl_client_ca: a certificate cannot be read');
    }
  }
  return found.join('\n');
}
