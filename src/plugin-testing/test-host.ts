import type { PluginHost } from '../data/plugin-runner/instances.ts';
import type { PluginLogger, PluginNode, PluginSettings } from '../plugin-sdk/tools.ts';
import type { EntityDefinition } from '../shared/entities/entity.ts';
import { grantLease } from '../shared/limits/cluster/grant-lease.ts';
import type { Lease, LeaseRequest } from '../shared/limits/limit-tools.ts';
import { type TestEntities, testEntities } from './test-entities.ts';

export interface TestLogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface TestHostOptions {
  readonly entities?: TestEntities;
  readonly slowEntities?: boolean;
  readonly entityDefinitions?: readonly EntityDefinition[];
  readonly settings?: Partial<PluginSettings>;
  readonly background?: (message: unknown) => unknown;
}

/** The `tools.node` of plugins under test. */
export const testNode: PluginNode = Object.freeze({
  id: '7f6b8c1e-0000-4000-8000-00000000000f',
  hostname: 'test-host',
  pid: 4711,
  worker: 0,
});

/** The default `tools.settings` of plugins under test. */
export const testSettings: PluginSettings = Object.freeze({
  untrustedFunctions: 'off',
  hashKeys: false,
  trustedCertificates: null,
  tracing: { instrumentations: new Set<string>(), samplingRate: 0 },
});

/** The host of plugin instances, without a worker. */
export function testHost(options: TestHostOptions, logLines: TestLogLine[], counts: Map<string, number>): PluginHost {
  const zones = new Map<string, SharedArrayBuffer>();
  const leases = testLeases();
  return {
    log: logCollector(logLines),
    node: testNode,
    settings: { ...testSettings, ...options.settings },
    entities: testEntities(options.entities ?? {}, options.slowEntities ?? false, options.entityDefinitions),
    zone(plugin, { name, bytes }) {
      const key = `${plugin}/${name}/${bytes}`;
      const memory = zones.get(key) ?? new SharedArrayBuffer(bytes);
      zones.set(key, memory);
      return memory;
    },
    lease: async (requests) => requests.map(leases),
    count(plugin, name, by) {
      const key = `${plugin}.${name}`;
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
    background: async (_, message) => options.background?.(message) ?? null,
  };
}

/** Counters of a store, in memory. */
export function testLeases(): (request: LeaseRequest) => Lease {
  const counters = new Map<string, number>();
  const usedOf = (key: string, windowStart: number): number => counters.get(`${key}@${windowStart}`) ?? 0;
  return (request) => {
    const { windows } = request;
    const before = windows.map(({ key, previous }) => (previous === null ? 0 : usedOf(key, previous.windowStart)));
    const used = windows.map(({ key, windowStart }) => usedOf(key, windowStart));
    const lease = grantLease(request, used, before);
    windows.forEach(({ key, windowStart }, at) => void counters.set(`${key}@${windowStart}`, lease.used[at] ?? 0));
    return lease;
  };
}

export function logCollector(lines: TestLogLine[]): PluginLogger {
  const at =
    (level: TestLogLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      lines.push({ level, message, fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
