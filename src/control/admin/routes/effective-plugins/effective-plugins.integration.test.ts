import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../../../test/support/gateway.ts';

/** `GET /routes/{route}/effective-plugins` lists the instances that really run, as explanations of requests show them. */

// biome-ignore lint/suspicious/noExplicitAny: the document is read member by member.
type Document = any;

let gateway: TestGateway;
let backend: TestBackend;
before(async () => {
  [gateway, backend] = await Promise.all([startTestGateway(), startBackend()]);
});
after(async () => {
  await gateway.stop();
  await backend.close();
});

async function write(method: string, path: string, body: object = {}): Promise<Document> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function effective(route: string, query = ''): Promise<Document> {
  const { status, body } = await gateway.admin('GET', `/routes/${route}/effective-plugins${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Instances without a rewrite phase, so that an explanation contains those of the plan only. None refuses a request. */
const plugins: Readonly<Record<string, { readonly config: object; readonly consumer: boolean }>> = {
  'key-auth': { config: {}, consumer: false },
  'basic-auth': { config: { anonymous: 'nobody' }, consumer: false },
  'rate-limiting': { config: { minute: 100_000 }, consumer: true },
  'request-size-limiting': { config: { allowed_payload_size: 5 }, consumer: true },
  'response-transformer': { config: { add: { headers: ['x-a:b'] } }, consumer: true },
  'request-transformer': { config: { add: { headers: ['x-a:b'] } }, consumer: true },
  'response-ratelimiting': { config: { limits: { video: { minute: 100_000 } } }, consumer: true },
  'bot-detection': { config: {}, consumer: false },
  'ip-restriction': { config: { allow: ['0.0.0.0/0'] }, consumer: true },
};

/** Mulberry32. */
function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const seed = Number(process.env['PLUGINS_SEED'] ?? Date.now() % 1_000_000);

test(`over random configurations (PLUGINS_SEED=${seed}) it equals the plugins of a real request`, async () => {
  const random = randomSource(seed);
  let compared = 0;
  const service = await write('PUT', '/services/backend', { url: backend.url });
  await write('PUT', '/consumers/nobody');
  const names = ['ann', 'ben'];
  for (const name of names) {
    await write('PUT', `/consumers/${name}`);
    await write('POST', `/consumers/${name}/key-auth`, { key: `key-of-${name}-12345` });
  }
  const routes = await Promise.all(
    ['one', 'two'].map((name) => write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] })),
  );
  for (let round = 0; round < 5; round++) {
    const ids = await configure(random, {
      service: String(service.id),
      routes: routes.map(({ id }) => String(id)),
      names,
    });
    for (const [at, route] of routes.entries()) {
      for (const consumer of [null, ...names]) {
        const byKey = (await effective(String(route.id))).authenticators.includes('key-auth');
        if (consumer !== null && !byKey) continue;
        const shown = await effective(
          String(route.id),
          consumer === null ? '' : `?consumer=${consumer}&authenticated_by=key-auth`,
        );
        const { explanation } = await write('POST', '/explain', {
          url: at === 0 ? '/one' : '/two',
          headers: consumer === null ? {} : { apikey: `key-of-${consumer}-12345` },
        });
        if (consumer !== null) assert.equal(explanation.consumer.username, consumer);
        const about = `seed ${seed}, round ${round}, route ${route.name}, consumer ${consumer}`;
        assert.deepEqual(shown.data.map(brief), explanation.plugins.map(brief), about);
        compared++;
        // Each configured instance that could apply is in one of the two lists.
        const listed = new Set([...shown.data, ...shown.shadowed].map(({ id }: Document) => id));
        assert.equal(listed.size, shown.data.length + shown.shadowed.length, about);
        for (const one of ids) assert.equal(listed.has(one.id), one.applies(String(route.id), consumer), about);
      }
    }
    for (const { id } of ids) assert.equal((await gateway.admin('DELETE', `/plugins/${id}`)).status, 204);
  }
  assert.ok(compared >= 10, `${compared} comparisons`);
});

function brief({ id, name, scope, priority }: Document) {
  return { id, name, scope, priority };
}

interface Configured {
  readonly id: string;
  applies(route: string, consumer: string | null): boolean;
}

async function configure(
  random: () => number,
  {
    service,
    routes,
    names,
  }: { readonly service: string; readonly routes: readonly string[]; readonly names: readonly string[] },
): Promise<readonly Configured[]> {
  const made: Configured[] = [];
  for (const [name, { config, consumer: mayHaveConsumer }] of Object.entries(plugins)) {
    for (const route of [null, ...routes]) {
      for (const serviceId of [null, service]) {
        for (const consumer of mayHaveConsumer ? [null, ...names] : [null]) {
          if (random() > 0.18) continue;
          const { id } = await write('POST', '/plugins', {
            name,
            config,
            enabled: random() > 0.1,
            ...(route === null ? {} : { route: { id: route } }),
            ...(serviceId === null ? {} : { service: { id: serviceId } }),
            ...(consumer === null ? {} : { consumer: { username: consumer } }),
          });
          made.push({
            id: String(id),
            applies: (of, by) => (route === null || route === of) && (consumer === null || consumer === by),
          });
        }
      }
    }
  }
  return made;
}

test('shadowed instances say what runs instead, and why', async () => {
  await write('PUT', '/services/why', { url: backend.url });
  const route = await write('PUT', '/services/why/routes/why', { paths: ['/why'] });
  await write('PUT', '/consumers/cat');
  const global = await write('POST', '/plugins', { name: 'rate-limiting', config: { minute: 9 } });
  const own = await write('POST', '/routes/why/plugins', { name: 'rate-limiting', config: { minute: 8 } });
  const off = await write('POST', '/services/why/plugins', {
    name: 'rate-limiting',
    config: { minute: 7 },
    enabled: false,
  });
  const hers = await write('POST', '/consumers/cat/plugins', { name: 'rate-limiting', config: { minute: 6 } });
  try {
    const anyone = await effective('why');
    assert.deepEqual(
      anyone.data.map(({ id }: Document) => id),
      [own.id],
    );
    const reasons = ({ shadowed }: Document) =>
      Object.fromEntries(shadowed.map(({ id, by, because }: Document) => [id, [by, because]]));
    assert.deepEqual(reasons(anyone), {
      [global.id]: [own.id, 'a more specific instance runs'],
      [off.id]: [null, 'disabled'],
    });
    const unknown = await effective('why', '?consumer=cat');
    assert.deepEqual([unknown.consumer.username, unknown.authenticated_by], ['cat', null]);
    assert.deepEqual(reasons(unknown)[hers.id], [own.id, 'no plugin identifies the consumer']);
    const key = await write('POST', '/services/why/plugins', { name: 'key-auth' });
    const known = await effective(String(route.id), '?consumer=cat');
    assert.deepEqual(
      known.data.map(({ id }: Document) => id),
      [key.id, hers.id],
    );
    assert.equal(known.authenticated_by, 'key-auth');
    assert.deepEqual(reasons(known)[own.id], [hers.id, 'a more specific instance runs']);
    assert.equal((await gateway.admin('GET', '/routes/why/effective-plugins?consumer=nope')).status, 404);
    assert.equal((await gateway.admin('GET', '/routes/nope/effective-plugins')).status, 404);
    const wrong = await gateway.admin('GET', '/routes/why/effective-plugins?consumer=cat&authenticated_by=jwt');
    assert.equal(wrong.status, 400);
  } finally {
    await gateway.admin('DELETE', `/plugins/${global.id}`);
  }
});
