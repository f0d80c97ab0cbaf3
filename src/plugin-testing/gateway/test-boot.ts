import { randomBytes } from 'node:crypto';
import { devNull } from 'node:os';
import type { WorkerBoot } from '../../shared/messages/messages.ts';
import type { ListenAddress, Settings } from '../../shared/settings/settings.ts';
import { loadSettings } from '../../shared/settings/sources/load.ts';
import { createRequestMeter } from '../../shared/usage/request-meter.ts';
import { createAddressZone } from '../../shared/zones/address-zone.ts';
import { createCounters } from '../../shared/zones/counters.ts';
import { createPluginMeter } from '../../shared/zones/plugin-meter.ts';
import { createVitals } from '../../shared/zones/worker-vitals.ts';
import { testNode } from '../test-host.ts';

const plain: ListenAddress = Object.freeze({
  ip: '127.0.0.1',
  port: 8000,
  ssl: false,
  udp: false,
  http2: true,
  proxyProtocol: false,
  reuseport: false,
  deferred: false,
  bind: false,
  backlog: 511,
  ipv6only: true,
  listener: '127.0.0.1:8000',
});
const tls: ListenAddress = Object.freeze({ ...plain, port: 8443, ssl: true, listener: '127.0.0.1:8443 ssl' });

/** Where clients of a test gateway arrive. */
export const testListeners: Readonly<Record<'http' | 'https', ListenAddress>> = Object.freeze({
  http: plain,
  https: tls,
});

let defaults: Settings | null = null;

/** The settings of a gateway, read by its own loader. Files and the environment of this process play no part. */
export function gatewaySettings(own: Readonly<Record<string, string>>): Settings {
  if (Object.keys(own).length > 0) return load(own);
  defaults ??= load({});
  return defaults;
}

function load(own: Readonly<Record<string, string>>): Settings {
  const env = Object.fromEntries(Object.entries(own).map(([name, text]) => [`SLUICEGATE_${name.toUpperCase()}`, text]));
  const { settings } = loadSettings({ conf: devNull, env: { ...quiet, ...env } });
  return { ...settings, proxyListen: [plain, tls], streamListen: [] };
}

/** This thread also runs the test: neither its files nor its load are those of a worker. */
const quiet: Readonly<Record<string, string>> = {
  SLUICEGATE_PROXY_ACCESS_LOG: 'off',
  SLUICEGATE_OVERLOAD_LAG: '0',
  SLUICEGATE_OVERLOAD_HEAP: '0',
};

/** What a worker receives at its start. */
export function testBoot(settings: Settings): WorkerBoot {
  return {
    worker: 0,
    nodeId: testNode.id,
    settings,
    baseDirectory: process.cwd(),
    compileCache: null,
    zones: createCounters(1),
    vitals: createVitals(1),
    heapLimit: Number.MAX_SAFE_INTEGER,
    quarantine: [],
    addresses: createAddressZone(1),
    requestKey: randomBytes(16).toString('hex'),
    ticketKeys: new Uint8Array(48),
    usage: [],
    meter: createRequestMeter(1),
    inherited: {},
    pluginMeter: createPluginMeter(1),
    code: [],
  };
}
