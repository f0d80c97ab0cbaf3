import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AccessContext,
  definePlugin,
  httpProtocols,
  type Plugin,
  type Reply,
  refuse,
} from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type TestPluginOptions, testPlugin } from '../../plugin-testing/index.ts';
import authAny from './index.ts';

const ada = '5b0ef6c3-0000-4000-8000-000000000001';
const guest = '5b0ef6c3-0000-4000-8000-000000000002';
const consumers = [
  { id: ada, username: 'ada' },
  { id: guest, username: 'guest' },
];

const priorities = { session: 1900, jwt: 1450, 'key-auth': 1250, 'basic-auth': 1100 } as const;
type Name = keyof typeof priorities;

/** What a method does with a request: accept, refuse with that status, ignore. */
type Act = 'accept' | 'anonymous' | 'nothing' | 'fail' | number;

function method(name: Name, act: Act, ran: string[], slow = false): Plugin {
  const attempt = (context: AccessContext): Reply | undefined => {
    ran.push(name);
    if (act === 'fail') throw new Error('broken');
    if (typeof act === 'number') return refuse(act, 'why', { 'WWW-Authenticate': `${name} realm="a"` });
    if (act === 'nothing') return undefined;
    const view = { id: act === 'accept' ? ada : guest, username: act, customId: null, tags: [] };
    context.authenticate(view, act === 'accept' ? { id: name, identifier: name } : null);
    return undefined;
  };
  return definePlugin({
    name,
    version: '1.0.0',
    priority: priorities[name],
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access: slow
        ? async (context) => {
            await Promise.resolve();
            return attempt(context);
          }
        : attempt,
    }),
  });
}

interface Outcome {
  readonly status: number;
  readonly challenges: readonly string[];
  readonly ran: readonly string[];
  readonly consumer: string | null;
  readonly identifier: string | null;
  readonly body: string;
  readonly logged: readonly string[];
}

async function run(
  acts: Partial<Record<Name, Act>>,
  config: Readonly<Record<string, unknown>> = {},
  options: TestPluginOptions & { slow?: boolean; method?: string } = {},
): Promise<Outcome> {
  const ran: string[] = [];
  const otherPlugins = Object.entries(acts).map(([name, act]) => ({
    plugin: method(name as Name, act, ran, options.slow ?? false),
  }));
  const plugin = testPlugin(authAny, {
    config: { methods: ['session', 'jwt', 'key-auth', 'basic-auth'], ...config },
    otherPlugins,
    entities: { consumers },
    slowEntities: options.slow ?? false,
  });
  const { response, consumer, upstream } = await plugin.request({ method: options.method ?? 'GET' });
  return {
    status: response.status,
    challenges: response.headers['www-authenticate'] ?? [],
    ran,
    consumer: consumer?.username ?? null,
    identifier: upstream?.header('x-credential-identifier') ?? null,
    body: response.body,
    logged: plugin.logLines.map((line) => line.message),
  };
}

test('requires at least two methods, all of them known', async () => {
  const check = async (methods: unknown): Promise<boolean> => (await testPlugin(authAny).check({ methods })).ok;
  assert.equal(await check(['jwt', 'key-auth']), true);
  assert.equal(await check(['jwt']), false);
  assert.equal(await check(['jwt', 'jwt']), false);
  assert.equal(await check(['jwt', 'key-atuh']), false);
  assert.equal(await check(undefined), false);
});

for (const slow of [false, true]) {
  const when = slow ? 'later' : 'at once';

  test(`uses the first method that accepts, and skips the rest (${when})`, async () => {
    const first = await run({ jwt: 'accept', 'key-auth': 401, 'basic-auth': 'accept' }, {}, { slow });
    assert.deepEqual([first.status, first.ran, first.identifier], [200, ['jwt'], 'jwt']);
    const second = await run({ jwt: 401, 'key-auth': 'accept', 'basic-auth': 401 }, {}, { slow });
    assert.deepEqual([second.status, second.ran, second.identifier], [200, ['jwt', 'key-auth'], 'key-auth']);
    const last = await run({ jwt: 401, 'key-auth': 401, 'basic-auth': 'accept' }, {}, { slow });
    assert.deepEqual([last.status, last.ran.length, last.identifier], [200, 3, 'basic-auth']);
  });

  test(`refuses once with the challenges of all methods when none accepts (${when})`, async () => {
    const outcome = await run({ session: 'nothing', jwt: 401, 'key-auth': 401, 'basic-auth': 401 }, {}, { slow });
    assert.equal(outcome.status, 401);
    assert.deepEqual(outcome.challenges, ['jwt realm="a"', 'key-auth realm="a"', 'basic-auth realm="a"']);
    assert.match(outcome.body, /"message":"Unauthorized"/);
    assert.equal(outcome.consumer, null);
  });

  test(`uses the anonymous consumer when no method accepts (${when})`, async () => {
    const outcome = await run({ jwt: 401, 'key-auth': 401 }, { anonymous: 'guest' }, { slow });
    assert.deepEqual([outcome.status, outcome.consumer, outcome.identifier], [200, 'guest', null]);
    const accepted = await run({ jwt: 401, 'key-auth': 'accept' }, { anonymous: 'guest' }, { slow });
    assert.deepEqual([accepted.status, accepted.identifier], [200, 'key-auth']);
  });
}

test('does not count a method that ignores the request as accepting', async () => {
  assert.equal((await run({ session: 'nothing' })).status, 401);
  assert.deepEqual((await run({ session: 'nothing', 'key-auth': 'accept' })).ran, ['session', 'key-auth']);
});

test('ends with any status other than 401, and on a failure', async () => {
  for (const status of [200, 302, 403, 429, 500]) {
    const outcome = await run({ jwt: 401, 'key-auth': status, 'basic-auth': 'accept' });
    assert.deepEqual([outcome.status, outcome.ran], [status, ['jwt', 'key-auth']]);
  }
  const failed = await run({ jwt: 'fail', 'basic-auth': 'accept' });
  assert.deepEqual([failed.status, failed.ran], [500, ['jwt']]);
});

test('requires that plugins that are not methods accept as well', async () => {
  const methods = ['jwt', 'key-auth'];
  const refused = await run({ jwt: 'accept', 'key-auth': 'accept', 'basic-auth': 401 }, { methods });
  assert.deepEqual([refused.status, refused.ran], [401, ['jwt', 'basic-auth']]);
  const accepted = await run({ jwt: 401, 'key-auth': 'accept', 'basic-auth': 'accept' }, { methods });
  assert.deepEqual([accepted.status, accepted.ran], [200, ['jwt', 'key-auth', 'basic-auth']]);
  const none = await run({ jwt: 401, 'key-auth': 401, 'basic-auth': 'accept' }, { methods });
  assert.deepEqual([none.status, none.ran], [401, ['jwt', 'key-auth']]);
});

test('tries further methods before the anonymous consumer of a single method', async () => {
  const accepted = await run({ jwt: 'anonymous', 'key-auth': 'accept' });
  assert.deepEqual([accepted.status, accepted.identifier], [200, 'key-auth']);
  const anonymous = await run({ jwt: 'anonymous', 'key-auth': 401 });
  assert.deepEqual([anonymous.status, anonymous.consumer], [200, 'anonymous']);
});

test('refuses all requests when none of the methods is configured', async () => {
  const outcome = await run({ 'basic-auth': 'accept' }, { methods: ['jwt', 'key-auth'], anonymous: 'guest' });
  assert.equal(outcome.status, 500);
  assert.deepEqual(outcome.ran, []);
  assert.deepEqual(outcome.logged, ['none of the methods is configured for the request']);
});

test('refuses when the anonymous consumer does not exist', async () => {
  assert.equal((await run({ jwt: 401 }, { anonymous: 'nobody' })).status, 500);
});

test('accepts preflight requests if configured', async () => {
  const options = { method: 'OPTIONS' };
  assert.equal((await run({ jwt: 401, 'key-auth': 401 }, {}, options)).status, 401);
  const config = { run_on_preflight: false };
  assert.equal((await run({ jwt: 401, 'key-auth': 401 }, config, options)).status, 200);
  assert.equal((await run({ jwt: 401, 'key-auth': 401 }, config)).status, 401);
});
