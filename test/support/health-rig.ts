import assert from 'node:assert/strict';
import type { Settings } from '../../src/shared/settings/settings.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { openClient } from './raw-client.ts';
import { until } from './until.ts';

type Row = Readonly<Record<string, unknown>>;

export interface ShownTarget {
  readonly target: string;
  readonly health: string;
  readonly data: {
    readonly host: string;
    readonly weight: { readonly total: number; readonly available: number; readonly unavailable: number };
    readonly addresses: readonly { readonly ip: string; readonly port: number; readonly health: string }[];
  };
}

/** A gateway of two workers with one service over one upstream, `pool`. */
export interface HealthRig extends AsyncDisposable {
  readonly gateway: TestGateway;
  /** An Admin API write that must succeed; returns the entity. */
  write(method: string, path: string, body?: unknown): Promise<Row>;
  /** Health of the targets by their name. */
  health(): Promise<Readonly<Record<string, string>>>;
  targets(): Promise<readonly ShownTarget[]>;
  /** The reason for the last change of the health of an address. */
  lastReason(): Promise<string>;
  /** Waits until the target shows this health. */
  becomes(target: string, health: string, milliseconds?: number): Promise<number>;
  /** A request on a new connection; returns status and body. */
  get(path?: string): Promise<{ readonly status: number; readonly body: string }>;
}

export interface HealthRigOptions {
  readonly healthchecks?: Row;
  /** More fields of the upstream. */
  readonly upstream?: Row;
  readonly targets: readonly string[];
  readonly settings?: Partial<Settings>;
  readonly service?: Row;
  /** One that runs, and stays when the rig ends. Default: its own, with `settings`. */
  readonly gateway?: TestGateway;
}

export async function startHealthRig(options: HealthRigOptions): Promise<HealthRig> {
  const gateway = options.gateway ?? (await startTestGateway({ settings: { workers: 2, ...options.settings } }));
  const write: HealthRig['write'] = async (method, path, body) => {
    const answer = await gateway.admin(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const end = async (): Promise<void> => {
    if (options.gateway === undefined) return gateway.stop();
    for (const path of ['/routes/r', '/services/s', '/upstreams/pool']) await gateway.admin('DELETE', path);
  };
  const targets = async (): Promise<readonly ShownTarget[]> => {
    const { data } = await write('GET', '/upstreams/pool/health');
    return data as readonly ShownTarget[];
  };
  const health = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries((await targets()).map((each) => [each.target, each.health]));
  try {
    await write('PUT', '/upstreams/pool', { healthchecks: options.healthchecks ?? {}, ...options.upstream });
    for (const target of options.targets) await write('POST', '/upstreams/pool/targets', { target });
    await write('PUT', '/services/s', { host: 'pool', retries: 0, ...options.service });
    await write('PUT', '/services/s/routes/r', { paths: ['/'] });
  } catch (error) {
    await end();
    throw error;
  }
  return {
    gateway,
    write,
    health,
    targets,
    async lastReason() {
      const { data } = await write('GET', '/upstreams/pool/health?balancer_health=1');
      return (data as { transitions: { reason: string }[] }).transitions[0]?.reason ?? '';
    },
    becomes: (target, state, milliseconds) => until(async () => (await health())[target] === state, milliseconds),
    async get(path = '/') {
      using client = await openClient(gateway.proxyPort);
      client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      const { status, body } = await client.readResponse();
      return { status, body };
    },
    [Symbol.asyncDispose]: end,
  };
}

/** A `healthchecks` record with fast probes: every 0.1 s, one result is enough. */
export function activeChecks(active: Row = {}): Row {
  const { healthy, unhealthy, ...rest } = active as { healthy?: Row; unhealthy?: Row };
  return {
    active: {
      timeout: 0.3,
      healthy: { interval: 0.1, successes: 1, ...healthy },
      unhealthy: { interval: 0.1, tcp_failures: 1, timeouts: 1, http_failures: 1, ...unhealthy },
      ...rest,
    },
  };
}
