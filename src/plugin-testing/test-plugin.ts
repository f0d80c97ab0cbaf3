import { buildPlan } from '../data/plugin-runner/build-plan.ts';
import { createInstance, type PluginHost, retireInstance } from '../data/plugin-runner/instances.ts';
import type { PluginInstance } from '../data/plugin-runner/plan.ts';
import type { ConfigInput, Plugin, TypedPlugin } from '../plugin-sdk/define-plugin.ts';
import type { EntityAccess } from '../plugin-sdk/entity-access.ts';
import type { MetricFamily, UpstreamState } from '../plugin-sdk/metrics.ts';
import type { StreamContext } from '../plugin-sdk/stream-contexts.ts';
import type { PluginSettings } from '../plugin-sdk/tools.ts';
import type { EntityDefinition } from '../shared/entities/entity.ts';
import { runRequest, type TestCalls, type TestOutcome } from './run-request.ts';
import { type ConfigCheck, checkConfig } from './test-config.ts';
import type { TestEntities } from './test-entities.ts';
import type { TestRequest } from './test-exchange.ts';
import { type TestLogLine, testHost } from './test-host.ts';
import { runStream, type TestStream, type TestStreamOutcome } from './test-stream.ts';

type Fields = Readonly<Record<string, unknown>>;

/** `C`: the configuration of the plugin, which completes the fields of `config` in editors. */
export interface TestPluginOptions<C = unknown> {
  /** Validated as the Admin API does; `request` rejects for an invalid one. Default: empty, so the defaults. */
  readonly config?: unknown extends C ? Fields : ConfigInput<C> | Fields;
  /** Plugins that run for the same requests, by their priority. Default: none. */
  readonly otherPlugins?: readonly { readonly plugin: Plugin; readonly config?: Readonly<Record<string, unknown>> }[];
  /** Rows by entity (`consumers`, `keyauth_credentials`), shared by all plugins of the test. Default: none. */
  readonly entities?: TestEntities;
  /** True: every lookup returns a promise, as a first lookup does in a gateway. Default: false. */
  readonly slowEntities?: boolean;
  /** Entities whose foreign fields are enforced: a row needs its parent, and is deleted with it. Default: none. */
  readonly entityDefinitions?: readonly EntityDefinition[];
  /** Default: those of `testSettings`. */
  readonly settings?: Partial<PluginSettings>;
  /** Replaces the plugin's background part. Default: it does not run. */
  readonly background?: (message: unknown) => unknown;
  /** Answers the calls of the plugin to backends. Default: they fail. */
  readonly calls?: TestCalls;
  /** What `metrics` of the plugin sees of upstreams. Default: none. */
  readonly upstreams?: readonly UpstreamState[];
}

export interface PluginTest {
  /** What the plugins wrote to the error log. */
  readonly logLines: readonly TestLogLine[];
  /** What the plugins counted, by `<plugin>.<name>`. */
  readonly counts: ReadonlyMap<string, number>;
  /** The entities, to read and to change during the test. */
  readonly entities: EntityAccess;
  /** Validates a configuration. The result has the message of the Admin API. */
  check(config: Readonly<Record<string, unknown>>): Promise<ConfigCheck>;
  /** Runs a request through all phases. */
  request(request?: TestRequest): Promise<TestOutcome>;
  /** Whether the plugins accept a stream with these properties. */
  accept(stream?: Partial<StreamContext>): Promise<boolean>;
  /** Runs a stream from its start to its end. */
  stream(stream?: TestStream): Promise<TestStreamOutcome>;
  /** What the plugin's `metrics.ts` returns now; empty if it has none. */
  metrics(): Promise<readonly MetricFamily[]>;
  /** Calls `drain`, as when the node ends. */
  drain(): Promise<void>;
  /** Calls `dispose`, as when the instances are removed. */
  dispose(): Promise<void>;
}

/**
 * Sets a plugin up without a gateway.
 *
 * @example
 * const plugin = testPlugin(hello, { config: { banned: ['Bob'] } });
 * const { response } = await plugin.request({ path: '/?name=Bob' });
 * assert.equal(response.status, 403);
 */
export function testPlugin<C>(plugin: TypedPlugin<C>, options: TestPluginOptions<C> = {}): PluginTest {
  const config = (options.config ?? {}) as Fields;
  const logLines: TestLogLine[] = [];
  const plugins = [{ plugin: plugin as Plugin, config }, ...(options.otherPlugins ?? [])];
  let instances: Promise<readonly PluginInstance[]> | null = null;
  const counts = new Map<string, number>();
  const host = testHost(options, logLines, counts);
  const ready = () => {
    instances ??= Promise.all(plugins.map((one, at) => setUp(one.plugin, one.config ?? {}, at, host)));
    return instances;
  };
  return {
    logLines,
    counts,
    entities: host.entities,
    check: (config) => checkConfig(plugin, config, host.settings),
    request: async (request = {}) => runRequest(request, await ready(), options.calls ?? null),
    accept: async (stream = {}) => {
      const context = { ...plainStream, ...stream };
      return buildPlan(await ready()).accept.every((instance) => instance.phases.accept?.(context) === true);
    },
    stream: async (stream = {}) => runStream(stream, await ready()),
    metrics: async () => {
      const [instance] = await ready();
      return instance === undefined ? [] : await metricsOf(plugin, config, options.upstreams ?? [], instance.id, host);
    },
    drain: async () => {
      for (const { phases } of await ready()) await phases.drain?.();
    },
    dispose: async () => {
      for (const instance of await ready()) retireInstance(instance);
    },
  };
}

const plainStream: StreamContext = Object.freeze({
  protocol: 'tcp',
  client: { ip: '127.0.0.1', port: 40_000 },
  localIp: '127.0.0.1',
  localPort: 9000,
  serverName: '',
  route: { id: '7f6b8c1e-0000-4000-8000-000000000001', name: 'test-route', tags: [] },
  service: null,
});

async function setUp(
  plugin: Plugin,
  config: Readonly<Record<string, unknown>>,
  serial: number,
  host: PluginHost,
): Promise<PluginInstance> {
  const checked = await checkConfig(plugin, config, host.settings);
  if (!checked.ok) throw new Error(checked.message);
  const id = `7f6b8c1e-0000-4000-9000-${String(serial).padStart(12, '0')}`;
  const row = { id, name: plugin.name, config: checked.config };
  return createInstance(new Map([[plugin.name, plugin]]), row, host);
}

async function metricsOf(
  plugin: Plugin,
  given: Fields,
  upstreams: readonly UpstreamState[],
  id: string,
  host: PluginHost,
): Promise<readonly MetricFamily[]> {
  const metrics = await plugin.loadMetrics();
  const checked = await checkConfig(plugin, given, host.settings);
  if (metrics === null || !checked.ok) return [];
  const { config } = checked;
  return metrics({
    instances: () => [{ id, config }],
    zone(instanceId, name) {
      const request = plugin.zones(config, instanceId).find((zone) => zone.name === name);
      return request === undefined ? null : (host.zone(plugin.name, request) ?? null);
    },
    background: (message) => host.background(plugin.name, message),
    upstreams: () => upstreams,
  });
}
