import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '../../shared/settings/settings.ts';

/** Settings that `GET /` masks, with their values. */
const secrets: Readonly<Record<string, (settings: Settings) => unknown>> = {
  admin_token: ({ adminToken }) => adminToken,
  pg_password: ({ pg }) => pg.password,
  request_debug_token: ({ requestDebugToken }) => requestDebugToken,
  ssl_cert_key: ({ sslCertKey }) => sslCertKey,
  admin_ssl_cert_key: ({ adminTls }) => adminTls.key,
  status_ssl_cert_key: ({ statusTls }) => statusTls.key,
  admin_gui_ssl_cert_key: ({ adminGuiTls }) => adminGuiTls.key,
  declarative_config_string: ({ declarative }) => declarative.text,
  cluster_cert_key: ({ hybrid }) => hybrid?.key,
  client_ssl_cert_key: ({ clientCertificate }) => clientCertificate?.key,
};

/** Not settings, but shown among them. */
const derived = /_listeners$|^database_engine$/;

/** The names of the settings that differ, in the order of the documentation. */
export function changedSettings(before: Settings, next: Settings): readonly string[] {
  return Object.keys(next.public).filter((name) => {
    if (derived.test(name)) return false;
    const secret = secrets[name];
    return secret === undefined
      ? !isDeepStrictEqual(before.public[name], next.public[name])
      : !isDeepStrictEqual(secret(before), secret(next));
  });
}
