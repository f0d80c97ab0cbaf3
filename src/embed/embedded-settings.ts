import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientCertificate, pemOf } from '../boot/listeners/listener-certificates.ts';
import type { Settings } from '../shared/settings/settings.ts';
import { loadSettings } from '../shared/settings/sources/load.ts';
import type { CreateGatewayOptions } from './gateway.ts';

/** Settings of the process, of several processes, or of listeners that `listen` opens. */
const meaningless: ReadonlyMap<string, string> = new Map([
  ['proxy_listen', 'use gateway.listen()'],
  ['admin_listen', 'use the option admin'],
  ['plugins', 'use the option plugins'],
  ['role', 'an application has no hybrid mode'],
  ['database', 'the config comes from the option config and from gateway.apply()'],
  ['declarative_config', 'use the option config'],
  ['declarative_config_string', 'use the option config'],
  ['nginx_worker_processes', 'requests are carried in this thread'],
  ['worker_timeout', 'no thread is watched'],
  ['worker_max_heap_size', 'the heap is that of the application'],
  ['overload_heap', 'the heap is that of the application'],
]);

/** An application has its own log, its own limits of memory, and no file that nobody asked for. */
const defaults = {
  admin_gui_listen: 'off',
  portal_listen: 'off',
  status_listen: 'off',
  proxy_access_log: 'off',
  proxy_stream_access_log: 'off',
  admin_access_log: 'off',
  status_access_log: 'off',
  proxy_error_log: '/dev/stderr',
  admin_error_log: '/dev/stderr',
  shutdown_delay: '0s',
  overload_lag: '0',
  request_debug: 'off',
  analytics: 'off',
  traffic_recorder: '0',
} as const;

const fixed = {
  role: 'traditional',
  database: 'off',
  proxy_listen: 'off',
  nginx_worker_processes: '1',
  worker_timeout: '0',
  overload_heap: '0',
} as const;

export interface EmbeddedSettings {
  readonly settings: Settings;
  readonly warnings: readonly string[];
  readonly nodeId: string;
}

/** Throws an `Error` of one line for a setting that is unknown, invalid or without meaning here. */
export function embeddedSettings(options: CreateGatewayOptions, baseDirectory: string): EmbeddedSettings {
  const { settings: given = {}, admin, prefix, plugins = [] } = options;
  for (const name of Object.keys(given)) {
    const instead = meaningless.get(name);
    if (instead !== undefined) throw new Error(`settings.${name}: ${instead}`);
  }
  const paths = plugins.filter((plugin) => typeof plugin === 'string');
  const texts = Object.entries(given).map(([name, value]) => [name, textOf(value)] as const);
  const { settings, warnings } = loadSettings({
    conf: null,
    // Of the environment only what references name: the application did not ask for KONG_LOG_LEVEL.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:KONG|SLUICEGATE)_/.test(name))),
    cwd: baseDirectory,
    given: {
      ...defaults,
      ...Object.fromEntries(texts),
      ...fixed,
      plugins: ['bundled', ...paths].join(', '),
      admin_listen: admin?.listen ?? 'off',
      prefix: prefix ?? join(tmpdir(), 'sluicegate-without-files'),
    },
  });
  const { sslCert, sslCertKey } = settings;
  return {
    settings: {
      ...settings,
      clientCertificate: clientCertificate(settings),
      sslCert: sslCert.map((value) => pemOf('ssl_cert', value)),
      sslCertKey: sslCertKey.map((value) => pemOf('ssl_cert_key', value)),
      requestDebugToken: settings.requestDebug ? settings.requestDebugToken : null,
    },
    warnings,
    nodeId: settings.nodeId ?? randomUUID(),
  };
}

function textOf(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}
