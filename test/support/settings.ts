import { join } from 'node:path';
import { defaultFormat, defaultStreamFormat } from '../../src/shared/settings/kinds/log-formats.ts';
import type { ListenAddress, Settings } from '../../src/shared/settings/settings.ts';
import { loadSettings } from '../../src/shared/settings/sources/load.ts';

const anyPort: ListenAddress = {
  ip: '127.0.0.1',
  port: 0,
  ssl: false,
  udp: false,
  http2: false,
  proxyProtocol: false,
  reuseport: false,
  deferred: false,
  bind: false,
  backlog: 511,
  ipv6only: true,
  listener: '127.0.0.1:0',
};

export interface TestSettingsOptions {
  readonly prefix: string;
  readonly settings?: Partial<Settings>;
  /** Read by the real settings loader, over the defaults of tests; `settings` takes precedence. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Settings of a small gateway for tests: one worker, SQLite, every port chosen by the system, logs in the prefix. */
export function testSettings(options: TestSettingsOptions): Settings {
  const { prefix, env } = options;
  const base = env === undefined ? baseSettings(prefix) : loadedSettings(prefix, env);
  return { ...base, ...options.settings, prefix };
}

function loadedSettings(prefix: string, env: Readonly<Record<string, string>>): Settings {
  const small = {
    KONG_PREFIX: prefix,
    KONG_PROXY_LISTEN: '127.0.0.1:0',
    KONG_ADMIN_LISTEN: '127.0.0.1:0',
    KONG_STATUS_LISTEN: '127.0.0.1:0',
    KONG_ADMIN_GUI_LISTEN: 'off',
    KONG_NGINX_WORKER_PROCESSES: '1',
    SLUICEGATE_SHUTDOWN_DELAY: '0s',
    KONG_ADMIN_ERROR_LOG: 'error.log',
    KONG_PROXY_ERROR_LOG: 'error.log',
  };
  return loadSettings({ env: { ...small, ...env }, cwd: prefix }).settings;
}

function baseSettings(prefix: string): Settings {
  return {
    role: 'traditional',
    hybrid: null,
    clusterListen: [],
    dataPlanePurgeDelay: 1_209_600_000,
    logLevel: 'notice',
    logFormat: 'json',
    proxyAccessLog: join(prefix, 'access.log'),
    accessLogFormats: {
      proxy: defaultFormat,
      admin: defaultFormat,
      status: defaultFormat,
      stream: defaultStreamFormat,
    },
    accessLogSampling: { share: 1, always: new Uint8Array(600) },
    proxyErrorLog: join(prefix, 'error.log'),
    proxyStreamAccessLog: join(prefix, 'access.log'),
    adminAccessLog: join(prefix, 'admin-access.log'),
    statusAccessLog: 'off',
    adminErrorLog: join(prefix, 'error.log'),
    proxyListen: [anyPort],
    streamListen: [],
    adminListen: [anyPort],
    statusListen: [anyPort],
    adminGuiListen: [],
    portalListen: [],
    adminGuiPath: '/',
    adminToken: null,
    adminAuth: 'auto',
    adminTls: { cert: [], key: [] },
    statusTls: { cert: [], key: [] },
    adminGuiTls: { cert: [], key: [] },
    adminClientCa: [],
    adminClientOptional: false,
    adminGuiUrl: [],
    adminHosts: [],
    hashKeys: false,
    workers: 1,
    database: 'sqlite',
    declarative: { file: null, text: null, watch: false },
    pg: {
      host: '127.0.0.1',
      port: 5432,
      user: 'kong',
      password: null,
      database: 'kong',
      schema: null,
      ssl: false,
      sslVerify: false,
      timeout: 5000,
      poolSize: 4,
    },
    lastGoodWait: 0,
    trustedIps: [],
    realIpHeader: 'X-Real-IP',
    realIpRecursive: false,
    headers: new Set([
      'server',
      'via',
      'x-kong-proxy-latency',
      'x-kong-upstream-latency',
      'x-kong-request-id',
      'x-kong-response-latency',
      'x-kong-admin-latency',
    ]),
    headersUpstream: new Set(['x-kong-request-id']),
    portMaps: {},
    upstreamKeepalive: { poolSize: 512, maxRequests: 10_000, idleTimeout: 60_000 },
    workerConnections: 16_384,
    keepaliveRequests: 10_000,
    keepaliveTimeout: 65_000,
    clientHeaderTimeout: 60_000,
    clientBodyTimeout: 60_000,
    sendTimeout: 60_000,
    streamPrereadTimeout: 30_000,
    streamProxyProtocolTimeout: 30_000,
    clientMaxBodySize: 0,
    adminClientMaxBodySize: 10 * 1024 * 1024,
    maxHeadSize: 32 * 1024,
    maxHeaderCount: 200,
    shutdownDelay: 0,
    portSharing: false,
    drainTimeout: 10_000,
    upgradeTimeout: 60_000,
    overloadLag: 300,
    overloadHeap: 92,
    bodyMemory: 128 * 1024 * 1024,
    bodyMemoryPerClient: 32 * 1024 * 1024,
    // Tests of attacks come from one address.
    http2BudgetPerClient: 0,
    clientBodyMinRate: 256,
    workerTimeout: 5000,
    workerMaxHeapSize: 0,
    allowDebugHeader: false,
    requestDebug: true,
    requestDebugToken: null,
    errorDefaultType: 'text/plain',
    plugins: ['bundled'],
    pluginFolder: null,
    pluginPins: new Map(),
    untrustedFunctions: 'off',
    nodeId: null,
    dns: {
      servers: [],
      hostsFile: '/etc/hosts',
      order: ['LAST', 'SRV', 'A', 'CNAME'],
      validTtl: null,
      staleTtl: 3600_000,
      notFoundTtl: 30_000,
      errorTtl: 1_000,
      cacheSize: 10_000,
      noSync: false,
    },
    tlsPolicy: {
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      ciphers: null,
      preferServerCiphers: false,
      sessionTickets: true,
      sessionTimeout: 86_400_000,
    },
    clientCertificate: null,
    sslCert: [],
    sslCertKey: [],
    trustedCertificates: null,
    audit: { enabled: true, retention: 30 * 86_400_000 },
    configHistory: { versions: 1000, retention: 0 },
    traffic: { records: 0, memory: 33_554_432, rate: 100, bodies: 0 },
    analytics: {
      enabled: true,
      maxSeries: 10_000,
      retention: { minute: 2 * 86_400_000, hour: 30 * 86_400_000, day: 400 * 86_400_000 },
    },
    tracing: {
      instrumentations: new Set([
        'request',
        'router',
        'dns_query',
        'balancer',
        'plugin_rewrite',
        'plugin_access',
        'plugin_header_filter',
      ]),
      samplingRate: 0.01,
    },
    public: {},
    prefix,
  };
}
