import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigRows } from '../contract.ts';
import { bundledRegistry, declare, now } from '../declarative.fixture.ts';
import { keepLastGood, type LastGood } from './keep-last-good.ts';

type Config = string | Readonly<Record<string, unknown>>;

async function valid(config: Config): Promise<ConfigRows> {
  const { rows, problems } = await declare(config);
  assert.deepEqual(
    problems.map(({ errors }) => errors),
    [],
  );
  return rows;
}

/** What is live after the document; `before` was live. */
async function live(config: Config, before: Config | null = null): Promise<LastGood> {
  const current = before === null ? {} : await valid(before);
  const declared = await declare(config, { current, now: now + 1000 });
  const result = keepLastGood(declared, current, await bundledRegistry());
  await refersToNothingMissing(result.rows);
  return result;
}

async function refersToNothingMissing(rows: ConfigRows): Promise<void> {
  for (const { name, foreign } of (await bundledRegistry()).definitions) {
    for (const row of rows[name] ?? []) {
      for (const [field, { entity }] of Object.entries(foreign)) {
        const { id } = (row[field] ?? {}) as { readonly id?: string };
        assert.ok(id === undefined || rows[entity]?.some((one) => one.id === id), `${name} ${row.id}: ${field}`);
      }
    }
  }
}

function names({ rows }: LastGood, entity: string, field = 'name'): readonly string[] {
  return (rows[entity] ?? []).map((row) => String(row[field])).sort();
}

const service = (name: string, more: object = {}) => ({ name, host: `${name}.test`, ...more });
const route = (name: string, path: string, more: object = {}) => ({ name, paths: [path], ...more });
const broken = { name: 'key-auth', config: { key_names: 5 } };
const keyAuth = { name: 'key-auth' };

describe('one bad entity', () => {
  it('is left out, with a reason, and does not block the rest', async () => {
    const result = await live({
      services: [
        service('good', { routes: [route('a', '/a')] }),
        { name: 'bad', port: 99999, routes: [route('b', '/b')] },
      ],
      consumers: [{ username: 'ann' }],
      upstreams: [{ name: 'u', targets: [{ target: 'x:1' }, { target: 'x y' }] }],
    });
    assert.deepEqual(names(result, 'services'), ['good']);
    assert.deepEqual(names(result, 'routes'), ['a']);
    assert.deepEqual(names(result, 'consumers', 'username'), ['ann']);
    assert.deepEqual(names(result, 'targets', 'target'), ['x:1']);
    const reasons = new Map(result.leftOut.map(({ label, reason, kept }) => [label, `${reason}, ${kept}`]));
    assert.equal(reasons.get('services[1]'), 'it is not valid, false');
    assert.equal(reasons.get("routes 'b'"), 'services[1] is not valid, false');
    assert.equal(reasons.get('upstreams[0].targets[1]'), 'it is not valid, false');
    assert.equal(result.leftOut.length, 3);
  });

  it('keeps its last good version', async () => {
    const before = { services: [service('s', { retries: 3, routes: [route('r', '/r')] }), service('t')] };
    const result = await live(
      { services: [{ ...before.services[0], port: 99999 }, service('t', { retries: 9 })] },
      before,
    );
    assert.equal(result.rows['services']?.find(({ name }) => name === 's')?.['retries'], 3);
    assert.equal(result.rows['services']?.find(({ name }) => name === 't')?.['retries'], 9);
    assert.deepEqual(
      result.leftOut.map(({ label, kept }) => [label, kept]),
      [['services[0]', true]],
    );
  });

  it('leaves a valid document as it is', async () => {
    const result = await live({ services: [service('s')] });
    assert.deepEqual([names(result, 'services'), result.leftOut], [['s'], []]);
  });
});

describe('a plugin that is left out opens nothing', () => {
  it('new, on a new service: the service and its routes are not there', async () => {
    const result = await live({
      services: [
        service('secret', { plugins: [broken], routes: [route('s', '/secret')] }),
        service('other', { routes: [route('o', '/other')] }),
      ],
    });
    assert.deepEqual(names(result, 'services'), ['other']);
    assert.deepEqual(names(result, 'routes'), ['o']);
  });

  it('new, on a new route: the route is not there, nor is one that would receive its requests', async () => {
    const result = await live({
      services: [
        service('app', { routes: [route('admin', '/admin', { plugins: [broken] })] }),
        service('web', { routes: [route('all', '/'), route('static', '/static')] }),
        service('own', { routes: [route('host', '/', { hosts: ['other.test'] })] }),
        service('api', { routes: [route('api', '/api')] }),
      ],
    });
    assert.deepEqual(names(result, 'routes'), ['api', 'host']);
  });

  it('new, and global: nothing new is live', async () => {
    const config = { plugins: [broken], services: [service('s', { routes: [route('r', '/')] })] };
    const first = await live(config);
    assert.deepEqual(Object.values(first.rows).flat(), []);
    const before = { services: [service('old', { routes: [route('old', '/old')] })] };
    assert.deepEqual(names(await live(config, before), 'services'), ['old']);
  });

  it('instead of another one: the old one stays', async () => {
    const routes = [route('r', '/r')];
    const before = { services: [service('s', { plugins: [keyAuth], routes })] };
    const result = await live(
      {
        services: [
          service('s', { plugins: [{ name: 'jwt', config: { nope: 1 } }], routes: [...routes, route('new', '/new')] }),
        ],
      },
      before,
    );
    assert.deepEqual(names(result, 'plugins'), ['key-auth']);
    assert.deepEqual(names(result, 'routes'), ['r'], 'a new route would be without it');
  });

  it('moved from the service to its route: the old one stays', async () => {
    const before = { services: [service('s', { plugins: [keyAuth], routes: [route('r', '/r')] })] };
    const result = await live(
      { services: [service('s', { routes: [route('r', '/r', { plugins: [broken] })] })] },
      before,
    );
    assert.deepEqual(
      result.rows['plugins']?.map((row) => row['service'] !== null),
      [true],
    );
  });

  it('moved from everywhere to a service: the old one stays', async () => {
    const before = { plugins: [keyAuth], services: [service('s', { routes: [route('r', '/r')] })] };
    const result = await live({ services: [service('s', { plugins: [broken], routes: [route('r', '/r')] })] }, before);
    assert.deepEqual(
      result.rows['plugins']?.map((row) => row['service']),
      [null],
    );
  });

  it('while one for all requests becomes weaker: that one stays as it was', async () => {
    const routes = [route('r', '/r')];
    const before = {
      plugins: [{ ...keyAuth, config: { hide_credentials: true } }],
      services: [service('s', { routes })],
    };
    const config = {
      plugins: [keyAuth],
      services: [service('s', { plugins: [{ name: 'jwt', config: { nope: 1 } }], routes })],
    };
    const result = await live(config, before);
    const configs = result.rows['plugins']?.map((row) => row['config'] as { hide_credentials: boolean });
    assert.deepEqual(
      configs?.map((one) => one.hide_credentials),
      [true],
    );
  });

  it('moved from one service to another: nothing of both changes', async () => {
    const before = { services: [service('a', { plugins: [keyAuth] }), service('b')] };
    const config = { services: [service('a'), service('b', { plugins: [broken], routes: [route('new', '/new')] })] };
    const result = await live(config, before);
    assert.deepEqual(names(result, 'routes'), []);
  });

  it('updated in its place: the old version stays, and the rest goes live', async () => {
    const before = { services: [service('s', { plugins: [keyAuth] })] };
    const result = await live(
      { services: [service('s', { plugins: [broken], routes: [route('new', '/new')] })] },
      before,
    );
    assert.deepEqual([names(result, 'plugins'), names(result, 'routes')], [['key-auth'], ['new']]);
    const disabled = { services: [service('s', { plugins: [{ ...keyAuth, enabled: false }] })] };
    const still = await live(
      { services: [service('s', { plugins: [broken], routes: [route('new', '/new')] })] },
      disabled,
    );
    assert.deepEqual(names(still, 'routes'), [], 'the old version did nothing');
  });

  it('of an unknown name or place', async () => {
    const services = [service('s', { routes: [route('r', '/')] })];
    for (const plugin of [
      { name: 'key-auth', service: 'sss' },
      { name: 'key-atuh' },
      5,
      { name: 'key-auth', service: 5 },
    ]) {
      assert.deepEqual(names(await live({ services, plugins: [plugin] }), 'routes'), [], JSON.stringify(plugin));
    }
    const misspelt = { services: [service('s', { plugin: [keyAuth], routes: [route('r', '/')] })] };
    assert.deepEqual(names(await live(misspelt), 'routes'), []);
    const inService = { services: [service('s', { plugins: ['key-auth'], routes: [route('r', '/')] })] };
    assert.deepEqual(names(await live(inService), 'routes'), []);
    const noList = { services: [service('s', { plugins: 'key-auth', routes: [route('r', '/')] })] };
    assert.deepEqual(names(await live(noList), 'routes'), []);
  });

  it('of a new consumer: the consumer and its credentials are not there', async () => {
    const config = {
      services: [service('s', { plugins: [keyAuth], routes: [route('r', '/')] })],
      consumers: [
        { username: 'bob', keyauth_credentials: [{ key: 'b' }], plugins: [{ name: 'rate-limiting', config: {} }] },
        { username: 'ann', keyauth_credentials: [{ key: 'a' }] },
      ],
    };
    const result = await live(config);
    assert.deepEqual(names(result, 'consumers', 'username'), ['ann']);
    assert.deepEqual(names(result, 'keyauth_credentials', 'key'), ['a']);
    assert.deepEqual(names(result, 'routes'), ['r']);
  });
});

describe('other things that are left out open nothing', () => {
  it('the document itself: a misspelt key', async () => {
    const config = { plugin: [keyAuth], services: [service('s', { routes: [route('r', '/')] })] };
    assert.deepEqual(Object.values((await live(config)).rows).flat(), []);
    const before = { services: [service('old')] };
    const result = await live(config, before);
    assert.deepEqual(names(result, 'services'), ['old']);
    assert.equal(result.leftOut[0]?.reason, 'the document is not valid');
  });

  it('a route that blocks: what is behind it is not there either', async () => {
    const block = { name: 'request-termination', config: { status_code: 'x' } };
    const config = {
      routes: [route('block', '/internal', { plugins: [block] })],
      services: [service('s', { routes: [route('all', '/')] }), service('t', { routes: [route('t', '/t')] })],
    };
    assert.deepEqual(names(await live(config), 'routes'), ['t']);
  });

  it('a route with an invalid path: what may receive its requests is not there', async () => {
    const others = ['/', '/admin', '/admin/users', '/adm', '/other', '~/admin/.*', '~/o[a-z]'];
    const expected: Readonly<Record<string, readonly string[]>> = {
      '~/admin/(': ['/other', '~/o[a-z]'],
      'admin/x': ['/other', '~/o[a-z]'],
      '~/a|/b(': [],
      '/admin//x': ['/other', '~/o[a-z]'],
    };
    for (const [path, paths] of Object.entries(expected)) {
      const config = {
        services: [
          service('s', { routes: [route('bad', path)] }),
          ...others.map((other, index) => service(`s${index}`, { routes: [route(`r${index}`, other)] })),
        ],
      };
      const { rows } = await live(config);
      assert.deepEqual(
        rows['routes']?.map((row) => (row['paths'] as string[])[0]),
        paths,
        path,
      );
    }
  });

  it('a route that replaces one: the old one stays', async () => {
    const before = {
      services: [service('s', { routes: [route('all', '/')] })],
      routes: [route('block', '/internal', { plugins: [{ name: 'request-termination' }] })],
    };
    const config = {
      services: [service('s', { routes: [route('all', '/')] })],
      routes: [route('blocks', '/internal', { strip_path: 5, plugins: [{ name: 'request-termination' }] })],
    };
    const result = await live(config, before);
    assert.deepEqual(names(result, 'routes'), ['all', 'block']);
    assert.deepEqual(names(result, 'plugins'), ['request-termination']);
  });

  it('a group that may be denied: its consumer is not there', async () => {
    const config = {
      services: [
        service('s', { routes: [route('r', '/')], plugins: [keyAuth, { name: 'acl', config: { deny: ['bad'] } }] }),
      ],
      consumers: [{ username: 'eve', acls: [{ group: 'bad', tags: 5 }], keyauth_credentials: [{ key: 'k' }] }],
    };
    const result = await live(config);
    assert.deepEqual(names(result, 'consumers', 'username'), []);
    assert.deepEqual(names(result, 'keyauth_credentials', 'key'), []);
  });

  it('an upstream: its services would look for its name in DNS', async () => {
    const config = {
      upstreams: [{ name: 'api.example.com', slots: 1, targets: [{ target: '10.0.0.1:80' }] }],
      services: [service('s', { host: 'api.example.com', routes: [route('r', '/r')] }), service('t')],
    };
    const result = await live(config);
    assert.deepEqual([names(result, 'services'), names(result, 'targets', 'target')], [['t'], []]);
  });

  it('a certificate that a service needs', async () => {
    const id = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    const config = {
      certificates: [{ id, cert: 'x', key: 'y', snis: [{ name: 'a.test' }] }],
      services: [service('s', { protocol: 'https', client_certificate: id }), service('t')],
    };
    const result = await live(config);
    assert.deepEqual([names(result, 'services'), names(result, 'snis')], [['t'], []]);
  });

  it('a unique value that an entity from before keeps', async () => {
    const id = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    const before = { services: [{ id, ...service('a'), routes: [route('r', '/old')] }] };
    const config = {
      services: [{ id, ...service('b'), port: 99999 }, service('a', { routes: [route('new', '/new')] })],
    };
    const result = await live(config, before);
    assert.deepEqual(
      result.rows['services']?.map((row) => [row.id, row['name']]),
      [[id, 'a']],
    );
  });

  it('a route that moves to a service that is left out stays where it was', async () => {
    const before = { services: [service('old', { plugins: [keyAuth], routes: [route('r', '/r')] })] };
    const config = { services: [service('new', { port: 99999, routes: [route('r', '/r')] })] };
    const result = await live(config, before);
    assert.deepEqual(
      [names(result, 'services'), names(result, 'routes'), names(result, 'plugins')],
      [['old'], ['r'], ['key-auth']],
    );
  });
});
