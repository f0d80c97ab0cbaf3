import { createHmac } from 'node:crypto';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { type GatewaySubject, startGateway } from '../../support/gateway/gateway.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { measureInTurns } from '../../support/turns/measure.ts';

const scenario = 'mixed';
const key = 'a-key-that-is-as-long-as-others-are';
const secret = 'a-secret-of-a-token-that-is-long-enough';
const password = 'correct horse';
const farAway = 4_000_000_000;
const orderSchema = JSON.stringify({
  type: 'object',
  required: ['customer', 'items'],
  properties: {
    customer: { type: 'string' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { sku: { type: 'string' }, count: { type: 'integer' } } },
    },
  },
});

interface Plugin {
  readonly name: string;
  readonly config?: object;
}

/** For every request. */
const everywhere = (context: BenchContext): readonly Plugin[] => [
  { name: 'correlation-id' },
  { name: 'cors', config: { origins: ['https://shop.example'] } },
  { name: 'bot-detection' },
  { name: 'ip-restriction', config: { deny: ['192.0.2.0/24'] } },
  { name: 'request-size-limiting', config: { allowed_payload_size: 8 } },
  { name: 'response-headers' },
  { name: 'timeouts', config: { total: 10_000 } },
  { name: 'concurrency-limiting', config: { limit: 100_000 } },
  { name: 'prometheus', config: { status_code_metrics: true, latency_metrics: true } },
  { name: 'opentelemetry', config: { traces_endpoint: `${context.backend.url}/v1/traces` } },
];

/** The paths that `mixed.lua` requests, each a route with plugins of its own. */
const routes: Readonly<Record<string, readonly Plugin[]>> = {
  items: [
    { name: 'key-auth' },
    { name: 'acl', config: { allow: ['readers'] } },
    { name: 'rate-limiting', config: { minute: farAway } },
    { name: 'request-transformer', config: { add: { headers: ['X-Caller:$(consumer.username)'] } } },
  ],
  profile: [
    { name: 'jwt', config: { claims_to_verify: ['exp'] } },
    { name: 'response-transformer', config: { add: { headers: ['X-Status:$(response.status)'] } } },
  ],
  orders: [
    { name: 'basic-auth' },
    { name: 'request-validator', config: { version: 'draft202012', body_schema: orderSchema } },
  ],
  catalogue: [{ name: 'proxy-cache', config: { strategy: 'memory', cache_ttl: 3600 } }],
  'people.json': [
    {
      name: 'data-masking',
      config: { rules: [{ name: 'people', json_paths: ['$.people[*].email'], direction: 'response' }] },
    },
  ],
};

/** Traffic of five kinds on a gateway with 20 different plugins, nine of them of single routes or fewer for each request. */
export const mixed: Scenario = {
  name: scenario,
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const env = { KONG_TRACING_SAMPLING_RATE: '0.01' };
    const gateway = await startGateway({ folder: context.folder, workers: 1, env });
    const without = await startGateway({ folder: context.folder, workers: 1, name: 'gateway without plugins' });
    try {
      await configure(context, gateway, true);
      await configure(context, without, false);
      const basic = Buffer.from(`ada:${password}`).toString('base64');
      await check(gateway, basic);
      const [ofPeer, bare, ours] = await measureInTurns(
        context,
        [context.peer, without, gateway].map((subject) => ({ subject, path: '/' })),
        { script: 'mixed.lua', args: [key, token(), basic] },
      );
      const common = { scenario, unit: 'µs', gateway: ours?.cpuPerRequest ?? [] };
      return [
        figure({ ...common, what: 'CPU per request, 20 plugins', peer: ofPeer?.cpuPerRequest ?? [] }),
        figure({
          ...common,
          what: 'the same, compared with no plugins',
          peer: bare?.cpuPerRequest ?? [],
          peerName: 'no plugins',
        }),
      ];
    } finally {
      await Promise.all([gateway.stop(), without.stop()]);
    }
  },
};

async function configure(context: BenchContext, gateway: GatewaySubject, withPlugins: boolean): Promise<void> {
  const admin = new AdminClient(gateway.adminUrl);
  try {
    await admin.write('PUT', '/services/backend', { url: context.backend.url });
    for (const name of Object.keys(routes)) {
      const route = { paths: [`/${name}`], strip_path: false };
      await admin.write('PUT', `/services/backend/routes/${name}`, route);
    }
    if (!withPlugins) return;
    await admin.write('PUT', '/consumers/ada', {});
    await admin.write('POST', '/consumers/ada/key-auth', { key });
    await admin.write('POST', '/consumers/ada/acls', { group: 'readers' });
    await admin.write('POST', '/consumers/ada/jwt', { key: 'ada', secret });
    await admin.write('POST', '/consumers/ada/basic-auth', { username: 'ada', password });
    for (const plugin of everywhere(context)) await admin.write('POST', '/plugins', plugin);
    for (const [name, plugins] of Object.entries(routes)) {
      for (const plugin of plugins) await admin.write('POST', `/routes/${name}/plugins`, plugin);
    }
  } finally {
    admin.close();
  }
}

/** What wrk does not look at: that plugins do their work. */
async function check(gateway: GatewaySubject, basic: string): Promise<void> {
  const expect = async (what: string, path: string, init: RequestInit, status: number): Promise<Response> => {
    const response = await fetch(gateway.url + path, init);
    await response.arrayBuffer();
    if (response.status !== status) throw new BenchError(`${what} was answered ${response.status}`);
    return response;
  };
  await expect('a request without a key', '/items/1', {}, 401);
  await expect('a request with a key', '/items/1', { headers: { apikey: key } }, 200);
  await expect('a request without a token', '/profile', {}, 401);
  await expect('a request with a token', '/profile', { headers: { Authorization: `Bearer ${token()}` } }, 200);
  await expect('a request without a password', '/orders', {}, 401);
  const headers = { Authorization: `Basic ${basic}`, 'Content-Type': 'application/json' };
  await expect('an order without a customer', '/orders', { method: 'POST', headers, body: '{}' }, 400);
  await expect('the catalogue', '/catalogue', {}, 200);
  const cached = await expect('the catalogue', '/catalogue', {}, 200);
  if (cached.headers.get('x-cache-status') !== 'Hit') throw new BenchError('the catalogue was not cached');
}

function token(): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iss: 'ada', exp: farAway })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
