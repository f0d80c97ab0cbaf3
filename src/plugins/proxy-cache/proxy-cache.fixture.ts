import { afterEach, beforeEach, mock } from 'node:test';
import {
  type BackendAnswer,
  type BackendCall,
  definePlugin,
  httpProtocols,
  type Plugin,
} from '../../plugin-sdk/index.ts';
import { type PluginTest, type TestOutcome, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import { cacheIn, cachePolicy, maxBody, needsRequestBody } from './handler.ts';
import { MapStore } from './map-store.fixture.ts';
import type { ProxyCacheConfig } from './schema.ts';

const start = Date.UTC(2026, 10, 21, 12);

/** Stops the clock in each test of the file; `advance` moves it. */
export function freezeTime(): void {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: start }));
  afterEach(() => mock.timers.reset());
}

/** Moves the clock by so many seconds. */
export const advance = (seconds: number): void => mock.timers.setTime(Date.now() + seconds * 1000);

export interface CacheSetup {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly store?: MapStore;
  readonly calls?: (call: BackendCall) => BackendAnswer | Promise<BackendAnswer>;
  /** Authenticates the consumer in the header `x-consumer`. */
  readonly authenticates?: boolean;
  /** Holds back requests with the header `x-held`. */
  readonly held?: boolean;
}

const authenticating = definePlugin({
  name: 'authenticating',
  version: '1.0.0',
  priority: 1250,
  protocols: httpProtocols,
  schema: async () => ({ config: (await import('../../plugin-sdk/schema.ts')).record({}) }) as never,
  setup: () => ({
    access(context) {
      const id = context.request.header('x-consumer');
      if (id !== null) context.authenticate({ id, username: id, customId: null, tags: [] }, { id, identifier: id });
      return undefined;
    },
  }),
});

/** Sends the value of `x-sent` to the backend as `x-kind`, and no `Range`. */
const changing = definePlugin({
  name: 'changing',
  version: '1.0.0',
  priority: 801,
  protocols: httpProtocols,
  schema: async () => ({ config: (await import('../../plugin-sdk/schema.ts')).record({}) }) as never,
  setup: () => ({
    access({ request, upstream }) {
      const sent = request.header('x-sent');
      if (sent === null) return undefined;
      upstream.setHeader('x-kind', sent);
      upstream.removeHeader('x-sent');
      upstream.removeHeader('range');
      return undefined;
    },
  }),
});

/** What requests with `x-held` wait for. */
export const heldBack = { until: async (): Promise<undefined> => undefined };

const holding = definePlugin({
  name: 'holding',
  version: '1.0.0',
  priority: 50,
  protocols: httpProtocols,
  schema: async () => ({ config: (await import('../../plugin-sdk/schema.ts')).record({}) }) as never,
  setup: () => ({ access: ({ request }) => (request.header('x-held') === null ? undefined : heldBack.until()) }),
});

/** The plugin over a store that the test can inspect. */
function cachePlugin(store: MapStore): Plugin {
  return definePlugin<ProxyCacheConfig>({
    name: 'proxy-cache',
    version: '1.0.0',
    priority: 100,
    protocols: httpProtocols,
    schema: () => import('./schema.ts'),
    needs: (config) => (needsRequestBody(config) ? { requestBody: { maxBytes: maxBody(config) } } : {}),
    setup: (config, tools) => cacheIn(store, cachePolicy(config, tools.instanceId), tools),
  });
}

export function cache(setup: CacheSetup = {}): PluginTest {
  const { config = {}, store = new MapStore(), calls, authenticates = false, held = false } = setup;
  return testPlugin(cachePlugin(store), {
    config: { strategy: 'memory', ...config },
    ...(calls === undefined ? {} : { calls }),
    otherPlugins: [
      { plugin: changing },
      ...(authenticates ? [{ plugin: authenticating }] : []),
      ...(held ? [{ plugin: holding }] : []),
    ],
  });
}

export const withCacheControl = { cache_control: true };

/** A response of the backend with these headers in addition to its type and date. */
export function backend(
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body = 'body',
  status = 200,
) {
  const date = new Date().toUTCString();
  return { status, headers: { 'Content-Type': 'application/json', Date: date, ...headers }, body };
}

export const status = ({ response }: TestOutcome): string | null => response.header('x-cache-status');

/** The cache statuses of these requests, sent one after the other. */
export async function statuses(
  test: PluginTest,
  ...requests: readonly TestRequest[]
): Promise<readonly (string | null)[]> {
  const all: (string | null)[] = [];
  for (const request of requests) all.push(status(await test.request({ backend: backend(), ...request })));
  return all;
}

export function callResult(code: number, headers: string, body: string): BackendAnswer {
  return {
    status: code,
    header: () => null,
    headerValues: () => [],
    headers: () => ({}),
    block: () => headers,
    body: Buffer.from(body),
  };
}
