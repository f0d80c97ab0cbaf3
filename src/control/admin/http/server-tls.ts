import { constants } from 'node:crypto';
import type { TlsOptions } from 'node:tls';
import type { ListenerTls, Settings } from '../../../shared/settings/settings.ts';
import { policyOptions } from '../../../shared/tls/policy-options.ts';

/** TLS of the listeners in `admin_listen`; null: there is no certificate. */
export function adminServerTls(settings: Settings): TlsOptions | null {
  return withClientCertificates(settings, serverTls(settings, settings.adminTls));
}

/** TLS of the listeners in `admin_gui_listen`, which serve the Admin API too; null: there is no certificate. */
export function dashboardServerTls(settings: Settings): TlsOptions | null {
  return withClientCertificates(settings, serverTls(settings, settings.adminGuiTls));
}

function withClientCertificates(settings: Settings, options: TlsOptions | null): TlsOptions | null {
  const { adminClientCa: authorities, adminClientOptional: optional } = settings;
  if (options === null || authorities.length === 0) return options;
  return {
    ...options,
    ca: [...authorities],
    requestCert: true,
    rejectUnauthorized: !optional,
    // Each connection shows its certificate: a resumed session would keep the verdict on an old one.
    secureOptions: (options.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET,
  };
}

/** TLS of the listeners in `status_listen`; null: there is no certificate. */
export function statusServerTls(settings: Settings): TlsOptions | null {
  return serverTls(settings, settings.statusTls);
}

/** TLS of the listeners in `portal_listen`; null: there is no certificate. */
export function portalServerTls(settings: Settings): TlsOptions | null {
  return serverTls(settings, { cert: [], key: [] });
}

function serverTls({ sslCert, sslCertKey, tlsPolicy }: Settings, own: ListenerTls): TlsOptions | null {
  const { cert, key } = own.cert.length > 0 ? own : { cert: sslCert, key: sslCertKey };
  return cert.length === 0 ? null : { ...policyOptions(tlsPolicy), cert: [...cert], key: [...key] };
}
