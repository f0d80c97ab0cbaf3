import { afterEach, beforeEach, mock } from 'node:test';
import type { BackendAnswer, BackendCall } from '../../plugin-sdk/index.ts';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { type PluginTest, type TestOutcome, type TestRequest, testPlugin } from '../../plugin-sdk/testing.ts';
import { cachePlugin } from './cache-plugin.fixture.ts';
import { MapStore } from './map-store.fixture.ts';

const start = Date.UTC(2026, 10, 21, 12);

/** Time stands still in each test of the file until it is told to `pass`. */
export function holdTime(): void {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: start }));
  afterEach(() => mock.timers.reset());
}

/** Seconds go by. */
export const pass = (seconds: number): void => mock.timers.setTime(Date.now() + seconds * 1000);

export interface Setting {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly store?: MapStore;
  readonly calls?: (call: BackendCall) => BackendAnswer | Promise<BackendAnswer>;
  readonly who?: boolean;
  readonly held?: boolean;
}

/** Names the consumer that the header `x-who` names. */
const named = definePlugin({
  name: 'named',
  version: '1.0.0',
  priority: 1250,
  protocols: httpProtocols,
  schema: async () => ({ config: (await import('../../plugin-sdk/schema.ts')).record({}) }) as never,
  setup: () => ({
    access(context) {
      const id = context.request.header('x-who');
      if (id !== null) context.authenticate({ id, username: id, customId: null, tags: [] }, { id, identifier: id });
      return undefined;
    },
  }),
});

/** Sends the backend what `x-sent` says as `x-kind`, and no `Range`. */
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

/** Where requests with `x-held` wait. */
export const heldBack = { at: async (): Promise<undefined> => undefined };

/** Holds requests with `x-held` back where the backend would be asked. */
const holding = definePlugin({
  name: 'holding',
  version: '1.0.0',
  priority: 50,
  protocols: httpProtocols,
  schema: async () => ({ config: (await import('../../plugin-sdk/schema.ts')).record({}) }) as never,
  setup: () => ({ access: ({ request }) => (request.header('x-held') === null ? undefined : heldBack.at()) }),
});

export function cache(setting: Setting = {}): PluginTest {
  const { config = {}, store = new MapStore(), calls, who = false, held = false } = setting;
  return testPlugin(cachePlugin(store), {
    config: { strategy: 'memory', ...config },
    ...(calls === undefined ? {} : { calls }),
    beside: [{ plugin: changing }, ...(who ? [{ plugin: named }] : []), ...(held ? [{ plugin: holding }] : [])],
  });
}

export const heeding = { cache_control: true };

/** An answer with these header fields besides its type and date. */
export function backend(
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body = 'body',
  status = 200,
) {
  const date = new Date().toUTCString();
  return { status, headers: { 'Content-Type': 'application/json', Date: date, ...headers }, body };
}

export const status = ({ response }: TestOutcome): string | null => response.header('x-cache-status');

/** The statuses that these requests have in turn. */
export async function statuses(
  test: PluginTest,
  ...requests: readonly TestRequest[]
): Promise<readonly (string | null)[]> {
  const all: (string | null)[] = [];
  for (const request of requests) all.push(status(await test.request({ backend: backend(), ...request })));
  return all;
}

export function answerOf(code: number, block: string, body: string): BackendAnswer {
  return {
    status: code,
    header: () => null,
    headerValues: () => [],
    headers: () => ({}),
    block: () => block,
    body: Buffer.from(body),
  };
}
