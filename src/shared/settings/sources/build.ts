import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { formatNamed, type LogFormat } from '../kinds/log-format.ts';
import { httpFormats, streamFormats } from '../kinds/log-formats.ts';
import { serverPolicy } from '../kinds/tls-policy.ts';
import type { Values } from '../schema.ts';
import type { DnsSettings, ListenAddress, Settings } from '../settings.ts';
import { SettingsError } from '../settings-error.ts';
import { checkRole, forRole, hybridSettings } from './hybrid.ts';

/** Converts parsed values to the settings of the gateway, and validates combinations of settings. */
export function buildSettings(values: Values, shown: Settings['public'], cwd: string): Settings {
  const prefix = resolve(cwd, expandHome(values.prefix));
  const log = (target: string): string => logPath(target, prefix);
  const format = (name: 'proxy_access_log' | 'admin_access_log' | 'status_access_log'): LogFormat =>
    formatNamed(name, values[name].format, httpFormats, values.nginx_http_log_format);
  const addresses = (
    name: 'proxy_listen' | 'stream_listen' | 'admin_listen' | 'status_listen' | 'admin_gui_listen' | 'portal_listen',
  ): readonly ListenAddress[] => values[name].map((entry) => entry.address);
  const settings: Settings = {
    ...hybridSettings(values),
    prefix,
    logLevel: values.log_level,
    logFormat: values.log_format,
    proxyAccessLog: log(values.proxy_access_log.target),
    accessLogFormats: {
      proxy: format('proxy_access_log'),
      admin: format('admin_access_log'),
      status: format('status_access_log'),
      stream: formatNamed(
        'proxy_stream_access_log',
        values.proxy_stream_access_log.format,
        streamFormats,
        values.nginx_stream_log_format,
      ),
    },
    accessLogSampling: { share: values.proxy_access_log_sampling, always: values.proxy_access_log_always },
    proxyErrorLog: log(values.proxy_error_log),
    proxyStreamAccessLog: log(values.proxy_stream_access_log.target),
    adminAccessLog: log(values.admin_access_log.target),
    statusAccessLog: log(values.status_access_log.target),
    adminErrorLog: log(values.admin_error_log),
    proxyListen: addresses('proxy_listen'),
    streamListen: addresses('stream_listen'),
    adminListen: addresses('admin_listen'),
    statusListen: addresses('status_listen'),
    adminGuiListen: addresses('admin_gui_listen'),
    portalListen: addresses('portal_listen'),
    adminGuiPath: values.admin_gui_path,
    adminToken: values.admin_token,
    adminAuth: values.admin_auth,
    adminTls: { cert: values.admin_ssl_cert, key: values.admin_ssl_cert_key },
    statusTls: { cert: values.status_ssl_cert, key: values.status_ssl_cert_key },
    adminGuiTls: { cert: values.admin_gui_ssl_cert, key: values.admin_gui_ssl_cert_key },
    adminClientCa: values.admin_ssl_verify_client === 'off' ? [] : values.admin_ssl_client_ca,
    adminClientOptional: values.admin_ssl_verify_client === 'optional',
    adminGuiUrl: values.admin_gui_url,
    adminHosts: values.admin_hosts,
    hashKeys: values.hash_keys,
    workers: values.nginx_worker_processes,
    database: values.database,
    declarative: {
      file: values.declarative_config === null ? null : resolve(cwd, expandHome(values.declarative_config)),
      text: values.declarative_config_string,
      watch: values.declarative_config_watch,
    },
    pg: {
      host: values.pg_host,
      port: values.pg_port,
      user: values.pg_user,
      password: values.pg_password,
      database: values.pg_database,
      schema: values.pg_schema,
      ssl: values.pg_ssl,
      sslVerify: values.pg_ssl_verify,
      timeout: values.pg_timeout,
      poolSize: values.pg_pool_size,
    },
    lastGoodWait: values.last_good_wait,
    trustedIps: values.trusted_ips,
    realIpHeader: values.real_ip_header.toLowerCase(),
    realIpRecursive: values.real_ip_recursive,
    headers: values.headers,
    headersUpstream: values.headers_upstream,
    portMaps: values.port_maps,
    upstreamKeepalive: {
      poolSize: values.upstream_keepalive_pool_size,
      maxRequests: values.upstream_keepalive_max_requests,
      idleTimeout: values.upstream_keepalive_idle_timeout,
    },
    workerConnections: values.nginx_events_worker_connections,
    keepaliveRequests: values.nginx_http_keepalive_requests,
    keepaliveTimeout: values.nginx_http_keepalive_timeout,
    clientHeaderTimeout: values.nginx_http_client_header_timeout,
    clientBodyTimeout: values.nginx_http_client_body_timeout,
    sendTimeout: values.nginx_http_send_timeout,
    streamPrereadTimeout: values.nginx_stream_preread_timeout,
    streamProxyProtocolTimeout: values.nginx_stream_proxy_protocol_timeout,
    clientMaxBodySize: values.nginx_http_client_max_body_size,
    adminClientMaxBodySize: values.nginx_admin_client_max_body_size,
    maxHeadSize: values.max_head_size,
    maxHeaderCount: values.max_header_count,
    shutdownDelay: values.shutdown_delay,
    portSharing: values.port_sharing,
    drainTimeout: values.drain_timeout,
    upgradeTimeout: values.upgrade_timeout,
    overloadLag: values.overload_lag,
    overloadHeap: values.overload_heap,
    bodyMemory: values.body_memory,
    bodyMemoryPerClient: values.body_memory_per_client,
    http2BudgetPerClient: values.http2_budget_per_client,
    clientBodyMinRate: values.client_body_min_rate,
    workerTimeout: values.worker_timeout,
    workerMaxHeapSize: values.worker_max_heap_size,
    allowDebugHeader: values.allow_debug_header,
    requestDebug: values.request_debug,
    requestDebugToken: values.request_debug_token,
    errorDefaultType: values.error_default_type,
    plugins: values.plugins,
    pluginFolder: null,
    pluginPins: values.plugins_integrity,
    untrustedFunctions: values.untrusted_lua,
    nodeId: values.node_id,
    dns: dnsSettings(values),
    tlsPolicy: serverPolicy({
      suite: values.ssl_cipher_suite,
      ciphers: values.ssl_ciphers,
      protocols: values.ssl_protocols,
      preferServerCiphers: values.ssl_prefer_server_ciphers,
      sessionTickets: values.ssl_session_tickets,
      sessionTimeout: values.ssl_session_timeout,
    }),
    clientCertificate: clientCertificate(values),
    sslCert: values.ssl_cert,
    sslCertKey: values.ssl_cert_key,
    trustedCertificates: trustedCertificates(values.lua_ssl_trusted_certificate, cwd),
    audit: { enabled: values.audit_log, retention: values.audit_retention },
    configHistory: { versions: values.config_history, retention: values.config_history_retention },
    traffic: {
      records: values.traffic_recorder,
      memory: values.traffic_recorder_memory,
      rate: values.traffic_recorder_rate,
      bodies: values.traffic_recorder_bodies,
    },
    analytics: {
      enabled: values.analytics,
      maxSeries: values.analytics_max_series,
      retention: {
        minute: values.analytics_retention_minutes,
        hour: values.analytics_retention_hours,
        day: values.analytics_retention_days,
      },
    },
    tracing: { instrumentations: values.tracing_instrumentations, samplingRate: values.tracing_sampling_rate },
    public: { ...shown, prefix },
  };
  checkRole(settings);
  const effective = withDashboard(forRole(settings));
  checkTogether(effective);
  return effective;
}

/**
 * The dashboard is a way to the Admin API: it has no listener where that has none, and none in plain text where every client of it has to show
 * a certificate. Its default address gives way to other listeners.
 */
function withDashboard(settings: Settings): Settings {
  const { adminListen, adminGuiListen, adminClientCa, adminClientOptional } = settings;
  if (adminListen.length === 0) return { ...settings, adminGuiListen: [] };
  const certified = adminClientCa.length > 0 && !adminClientOptional && adminListen.every(({ ssl }) => ssl);
  const { proxyListen, streamListen, statusListen, clusterListen } = settings;
  const ports = new Set([proxyListen, streamListen, adminListen, statusListen, clusterListen].flat().map(portOf));
  const own = adminGuiListen.filter(
    (address) => (address.ssl || !certified) && !(address.optional === true && ports.has(portOf(address))),
  );
  return { ...settings, adminGuiListen: own };
}

function portOf({ port, udp }: ListenAddress): string {
  return `${port}${udp ? ' udp' : ''}`;
}

function dnsSettings(values: Values): DnsSettings {
  const noSync = values.dns_no_sync;
  if (!values.new_dns_client) {
    return {
      servers: values.dns_resolver,
      hostsFile: values.dns_hostsfile,
      order: values.dns_order,
      validTtl: values.dns_valid_ttl,
      staleTtl: values.dns_stale_ttl,
      notFoundTtl: values.dns_not_found_ttl,
      errorTtl: values.dns_error_ttl,
      cacheSize: values.dns_cache_size,
      noSync,
    };
  }
  return {
    servers: values.resolver_address,
    hostsFile: values.resolver_hosts_file,
    order: values.resolver_family,
    validTtl: values.resolver_valid_ttl,
    staleTtl: values.resolver_stale_ttl,
    notFoundTtl: values.resolver_error_ttl,
    errorTtl: values.resolver_error_ttl,
    cacheSize: values.resolver_lru_cache_size,
    noSync,
  };
}

/** The value as configured; files are read at start. */
function clientCertificate(values: Values): Settings['clientCertificate'] {
  const { client_ssl: wanted, client_ssl_cert: cert, client_ssl_cert_key: key } = values;
  if (!wanted) return null;
  if (cert === null) throw new SettingsError('client_ssl_cert must be specified');
  if (key === null) throw new SettingsError('client_ssl_cert_key must be specified');
  return { cert, key };
}

function checkTogether(settings: Settings): void {
  checkPair('ssl_cert', settings.sslCert, settings.sslCertKey);
  checkPair('admin_ssl_cert', settings.adminTls.cert, settings.adminTls.key);
  checkPair('status_ssl_cert', settings.statusTls.cert, settings.statusTls.key);
  checkPair('admin_gui_ssl_cert', settings.adminGuiTls.cert, settings.adminGuiTls.key);
  if (settings.adminClientCa.length > 0 && !settings.adminListen.some(({ ssl }) => ssl)) {
    throw new SettingsError('admin_ssl_client_ca needs a listener with the flag ssl in admin_listen');
  }
  checkDeclarative(settings);
  if (settings.maxHeadSize < 1024) throw new SettingsError('max_head_size must be at least 1k');
  if (settings.workerTimeout > 0 && settings.workerTimeout < 1000)
    throw new SettingsError('worker_timeout must be at least 1s, or 0');
  if (settings.workerMaxHeapSize > 0 && settings.workerMaxHeapSize < 64 * 1024 ** 2)
    throw new SettingsError('worker_max_heap_size must be at least 64m, or 0');
  checkAddresses(settings);
}

function checkPair(name: string, certificates: readonly string[], keys: readonly string[]): void {
  if (certificates.length > 0 && keys.length === 0) throw new SettingsError(`${name}_key must be specified`);
  if (keys.length > 0 && certificates.length === 0) throw new SettingsError(`${name} must be specified`);
  if (certificates.length !== keys.length) {
    throw new SettingsError(`${name} and ${name}_key must have the same number of entries`);
  }
}

function checkDeclarative({ declarative: { file, text, watch } }: Settings): void {
  if (file !== null && text !== null)
    throw new SettingsError('declarative_config and declarative_config_string are both set; keep one of them');
  if (watch && file === null) throw new SettingsError('declarative_config_watch needs declarative_config');
}

/** With `reuseport` the system would let two listeners share an address and mix their traffic. */
function checkAddresses(settings: Settings): void {
  const owners = new Map<string, string>();
  const listeners = {
    proxy_listen: settings.proxyListen,
    stream_listen: settings.streamListen,
    admin_listen: settings.adminListen,
    status_listen: settings.statusListen,
    admin_gui_listen: settings.adminGuiListen,
    portal_listen: settings.portalListen,
    cluster_listen: settings.clusterListen,
  };
  for (const [name, addresses] of Object.entries(listeners)) {
    for (const { ip, port, udp, listener, ssl, proxyProtocol } of addresses) {
      if (udp && (ssl || proxyProtocol)) {
        throw new SettingsError(`${name}: '${listener}': udp goes with neither ssl nor proxy_protocol`);
      }
      if (port === 0) continue;
      const key = `${ip} ${port}${udp ? ' udp' : ''}`;
      const other = owners.get(key);
      if (other !== undefined) {
        throw new SettingsError(
          other === name
            ? `${name} names port ${port} of ${ip} twice`
            : `${name} and ${other} both name port ${port} of ${ip}`,
        );
      }
      owners.set(key, name);
    }
  }
}

function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}

function logPath(target: string, prefix: string): string {
  return target === 'off' || isAbsolute(target) ? target : join(prefix, target);
}

function trustedCertificates(text: string | null, cwd: string): string | null {
  if (text === null || text === 'system') return null;
  if (text.includes(','))
    throw new SettingsError('lua_ssl_trusted_certificate takes one file, with all authorities in it');
  return resolve(cwd, text);
}
