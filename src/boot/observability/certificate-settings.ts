import type { CertificateSetting } from '../../control/overview/expiring-certificates.ts';
import type { Settings } from '../../shared/settings/settings.ts';

/** The certificates of the settings that listeners and links show. */
export function certificateSettings(settings: () => Settings): () => readonly CertificateSetting[] {
  return () => {
    const { sslCert, adminTls, statusTls, clientCertificate, hybrid } = settings();
    const found: CertificateSetting[] = [];
    const add = (name: string, pems: readonly string[]): void => {
      for (const pem of pems) found.push({ name, pem });
    };
    add('ssl_cert', sslCert);
    add('admin_ssl_cert', adminTls.cert);
    add('status_ssl_cert', statusTls.cert);
    if (clientCertificate !== null) add('client_ssl_cert', [clientCertificate.cert]);
    if (hybrid !== null) add('cluster_cert', [hybrid.cert]);
    return found;
  };
}
