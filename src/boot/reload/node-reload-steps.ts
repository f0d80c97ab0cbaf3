import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { ListenerTls, Settings } from '../../shared/settings/settings.ts';
import type { ListeningNode } from '../listen-node.ts';
import { adminCertificates } from '../listeners/admin-certificates.ts';
import { clusterCertificates } from '../listeners/cluster-certificates.ts';
import { listenerCertificates } from '../listeners/listener-certificates.ts';
import { reopenLogs } from '../open-node.ts';

/** What a running node can change by itself. */
export function addReloadSteps(node: ListeningNode): void {
  const { reload, supervisor, logs, listeners, options } = node;
  const level = logs.level((next) => supervisor.broadcast({ type: 'log-level', level: next }));
  reload.add({
    settings: ['log_level'],
    prepare: (next, changed) => () => {
      reopenLogs(node);
      // A level that was set through the Admin API stays, unless the setting has changed.
      if (changed.has('log_level')) level.set(next.logLevel);
    },
  });

  const { proxyListen, streamListen, adminListen, statusListen, adminGuiListen, portalListen, adminClientCa } =
    options.settings;
  let current: Certificates = pick(options.settings);
  reload.add({
    settings: [
      'ssl_cert',
      'ssl_cert_key',
      'admin_ssl_cert',
      'admin_ssl_cert_key',
      'status_ssl_cert',
      'status_ssl_cert_key',
      'admin_gui_ssl_cert',
      'admin_gui_ssl_cert_key',
    ],
    prepare(next, changed) {
      const bound = { ...next, proxyListen, streamListen, adminListen, statusListen, adminGuiListen, portalListen };
      const read = pick({ ...bound, ...listenerCertificates(bound), ...adminCertificates(bound) });
      // Other authorities, or none, need another server; the same files may have other contents.
      const certificates = changed.has('admin_ssl_client_ca') ? { ...read, adminClientCa } : read;
      if (isDeepStrictEqual(certificates, current)) return null;
      checkPairs(certificates);
      return () => {
        current = certificates;
        const { sslCert, sslCertKey } = certificates;
        supervisor.broadcast({ type: 'settings', settings: { sslCert, sslCertKey } });
        for (const listener of listeners) listener.setTls({ ...options.settings, ...certificates });
        logs.node.notice('the certificates of the listeners were replaced');
      };
    },
  });

  let connection = options.settings.hybrid;
  reload.add({
    settings: ['cluster_cert', 'cluster_cert_key', 'cluster_ca_cert'],
    prepare(next) {
      const read = clusterCertificates(next);
      const { dataPlanes, data } = node;
      const end = dataPlanes ?? data.link;
      if (end === null || read === null || connection === null) return null;
      const { cert, key, ca } = connection;
      if (isDeepStrictEqual([cert, key, ca], [read.cert, read.key, read.ca])) return null;
      return () => {
        connection = read;
        end.setTls(read);
        logs.node.notice('the certificate of the connection between control plane and data planes was replaced');
      };
    },
  });

  reload.add({
    settings: ['trusted_ips'],
    prepare: ({ trustedIps }, changed) =>
      changed.has('trusted_ips') ? () => supervisor.broadcast({ type: 'settings', settings: { trustedIps } }) : null,
  });

  const source = node.declarative?.source ?? null;
  if (source !== null) {
    reload.add({
      settings: ['declarative_config', 'declarative_config_string', 'declarative_config_watch'],
      async prepare({ declarative }) {
        // The document takes effect here, or not at all; the step is the last one that can fail.
        await source.reload(declarative);
        return null;
      },
    });
  }

  // Read when they are needed.
  reload.add({ settings: ['admin_token', 'upgrade_timeout'], prepare: () => null });
}

type Certificates = Pick<
  Settings,
  'sslCert' | 'sslCertKey' | 'adminTls' | 'statusTls' | 'adminGuiTls' | 'adminClientCa'
>;

function pick({ sslCert, sslCertKey, adminTls, statusTls, adminGuiTls, adminClientCa }: Certificates): Certificates {
  return { sslCert, sslCertKey, adminTls, statusTls, adminGuiTls, adminClientCa };
}

function checkPairs({ sslCert, sslCertKey, adminTls, statusTls, adminGuiTls, adminClientCa }: Certificates): void {
  checkPair('ssl_cert', { cert: sslCert, key: sslCertKey });
  checkPair('admin_ssl_cert', adminTls, adminClientCa);
  checkPair('status_ssl_cert', statusTls);
  checkPair('admin_gui_ssl_cert', adminGuiTls, adminClientCa);
}

function checkPair(name: string, { cert, key }: ListenerTls, ca: readonly string[] = []): void {
  try {
    createSecureContext({ cert: [...cert], key: [...key], ...(ca.length === 0 ? {} : { ca: [...ca] }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} and ${name}_key cannot be used: ${reason}`);
  }
}
