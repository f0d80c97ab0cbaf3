import type { HybridSettings } from '../hybrid-settings.ts';
import type { Values } from '../schema.ts';
import type { Settings } from '../settings.ts';
import { SettingsError } from '../settings-error.ts';

type HybridPart = Pick<Settings, 'role' | 'hybrid' | 'clusterListen' | 'dataPlanePurgeDelay'>;

/** The settings of a control plane or data plane. Certificates are as configured; files are read at start. */
export function hybridSettings(values: Values): HybridPart {
  const { role } = values;
  return {
    role,
    hybrid: role === 'traditional' ? null : connection(values),
    clusterListen: role === 'control_plane' ? values.cluster_listen.map(({ address }) => address) : [],
    dataPlanePurgeDelay: values.cluster_data_plane_purge_delay * 1000,
  };
}

function connection(values: Values): HybridSettings {
  const { cluster_cert: cert, cluster_cert_key: key, cluster_ca_cert: ca, cluster_mtls: mtls } = values;
  if (cert === null || key === null) {
    throw new SettingsError('cluster certificate and key must be provided to use Hybrid mode');
  }
  if (mtls === 'pki' && ca === null) {
    throw new SettingsError('cluster_ca_cert must be specified when cluster_mtls = "pki"');
  }
  if (values.cluster_timeout < 100) throw new SettingsError('cluster_timeout must be at least 100ms');
  return {
    mtls,
    cert,
    key,
    ca: mtls === 'pki' ? ca : null,
    serverName: values.cluster_server_name,
    controlPlanes: values.cluster_control_plane,
    maxPayload: values.cluster_max_payload,
    timeout: values.cluster_timeout,
    labels: values.cluster_dp_labels,
  };
}

/**
 * A control plane carries no traffic, and a data plane has no Admin API and no database: the settings of what a node lacks have no effect.
 */
export function forRole(settings: Settings): Settings {
  switch (settings.role) {
    case 'traditional':
      return settings;
    case 'control_plane':
      return { ...settings, workers: 0, proxyListen: [], streamListen: [] };
    case 'data_plane':
      return { ...settings, adminListen: [], portalListen: [] };
  }
}

/** Before `forRole`. */
export function checkRole({ role, database, proxyListen, streamListen, adminListen, clusterListen }: Settings): void {
  if (role === 'control_plane') {
    if (adminListen.length === 0) throw new SettingsError('admin_listen must be specified when role = "control_plane"');
    if (clusterListen.length === 0) {
      throw new SettingsError('cluster_listen must be specified when role = "control_plane"');
    }
    if (database === 'off') throw new SettingsError('in-memory storage can not be used when role = "control_plane"');
  }
  if (role === 'data_plane') {
    if (proxyListen.length === 0 && streamListen.length === 0) {
      throw new SettingsError('proxy_listen must be specified when role = "data_plane"');
    }
    if (database !== 'off') {
      throw new SettingsError(
        'only in-memory storage can be used when role = "data_plane"\nHint: set database = off in your kong.conf',
      );
    }
  }
}
