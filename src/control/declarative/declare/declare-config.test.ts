import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  authority,
  ecCertificate,
  ecKey,
  rsaCertificate,
  rsaKey,
} from '../../../shared/entities/certificates.fixture.ts';
import type { Row } from '../../../shared/entities/entity.ts';
import type { ConfigRows, DeclaredConfig } from '../contract.ts';
import { bundledRegistry, declare, now } from '../declarative.fixture.ts';
import { flattenErrors } from '../problems/flatten-errors.ts';
import { parseErrorText } from '../problems/parse-error-text.ts';
import { problemLines } from '../problems/problem-lines.ts';
import { keepLastGood } from './keep-last-good.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The rows of a valid document; by name where there is one. */
async function rowsOf(...args: Parameters<typeof declare>): Promise<DeclaredConfig['rows']> {
  const { rows, problems } = await declare(...args);
  assert.deepEqual(problemLines(problems), []);
  return rows;
}

async function linesOf(...args: Parameters<typeof declare>): Promise<readonly string[]> {
  return problemLines((await declare(...args)).problems);
}

function only(rows: ConfigRows, entity: string): Row {
  assert.equal(rows[entity]?.length, 1, entity);
  return rows[entity][0] as Row;
}

describe('the format', () => {
  it('has a version', async () => {
    assert.deepEqual(await linesOf('services: []'), ['line 1: _format_version: required field missing']);
    assert.deepEqual(await linesOf('_format_version: 3.0'), ['line 1: _format_version: expected a string']);
    assert.deepEqual(await linesOf('_format_version: "4.0"'), [
      'line 1: _format_version: expected one of: 1.1, 2.1, 3.0',
    ]);
    for (const version of ['1.1', '2.1', '3.0']) await rowsOf({ _format_version: version });
  });

  it('has every entity that is config, and nothing else', async () => {
    const { definitions } = await bundledRegistry();
    const rows = await rowsOf({});
    assert.deepEqual(
      Object.keys(rows).sort(),
      definitions.flatMap(({ inConfig, name }) => (inConfig ? name : [])).sort(),
    );
    for (const key of [
      'foo',
      'sessions',
      'oauth2_tokens',
      '_info',
      '_workspace',
      '_plugin_configs',
      'consumer_groups',
    ]) {
      assert.deepEqual(await linesOf({ [key]: [] }), [`${key}: unknown field`]);
    }
  });

  it('has remarks, and lists that are null or empty', async () => {
    const service = { name: 'a', host: 'h', _comment: 'x', _ignore: [{ any: 1 }], routes: null, plugins: {} };
    const rows = await rowsOf({ _comment: 'c', _ignore: ['x'], _transform: true, services: [service], routes: null });
    assert.equal(only(rows, 'services')['host'], 'h');
    assert.ok(!('_comment' in only(rows, 'services')));
    assert.deepEqual(await linesOf({ _comment: 1, _ignore: 'x', _transform: 'no', services: 'x', routes: { a: 1 } }), [
      '_comment: expected a string',
      '_ignore: expected an array',
      '_transform: expected a boolean',
      'services: expected an array',
      'routes: expected an array',
    ]);
    assert.deepEqual(await linesOf({ services: [5, { ...service, _comment: 1, routes: 'r' }] }), [
      'services[0]: expected a record',
      'services[1]._comment: expected a string',
      'services[1].routes: expected an array',
    ]);
  });
});

describe('nested and flat', () => {
  it('entities in entities, at any depth', async () => {
    const rows = await rowsOf(`
_format_version: "3.0"
services:
- name: s
  url: https://example.com:8443/base
  plugins: [{name: cors}]
  routes:
  - name: r
    paths: [/a]
    plugins: [{name: rate-limiting, config: {minute: 5, redis_host: localhost}}]
consumers:
- username: bob
  plugins: [{name: rate-limiting, config: {minute: 1}}]
  keyauth_credentials: [{key: k}]
  acls: [{group: g}]
upstreams:
- name: u
  targets: [{target: example.org}]
`);
    const service = only(rows, 'services');
    assert.deepEqual(
      [service['protocol'], service['host'], service['port'], service['path']],
      ['https', 'example.com', 8443, '/base'],
    );
    assert.deepEqual(only(rows, 'routes')['service'], { id: service.id });
    const [cors, ofRoute, ofConsumer] = rows['plugins'] as readonly Row[];
    assert.deepEqual([cors?.['service'], cors?.['route']], [{ id: service.id }, null]);
    assert.deepEqual([ofRoute?.['service'], ofRoute?.['route']], [null, { id: only(rows, 'routes').id }]);
    assert.deepEqual(ofConsumer?.['consumer'], { id: only(rows, 'consumers').id });
    assert.equal(((ofRoute as Row)['config'] as { redis: Fields }).redis['host'], 'localhost', 'a deprecated field');
    assert.equal(only(rows, 'targets')['target'], 'example.org:8000');
    assert.deepEqual(only(rows, 'acls')['consumer'], { id: only(rows, 'consumers').id });
  });

  it('references by name and by id, in any order', async () => {
    const id = 'A1B2C3D4-0000-4000-8000-000000000001';
    const rows = await rowsOf({
      plugins: [{ name: 'cors', service: 's', route: id.toLowerCase() }],
      routes: [{ id, paths: ['/'], service: 's' }],
      services: [{ name: 's', host: 'h' }],
      keyauth_credentials: [{ consumer: 'ann', key: 'k' }],
      targets: [{ upstream: 'u', target: 'a:80' }],
      upstreams: [{ name: 'u' }],
      consumers: [{ username: 'ann' }],
    });
    assert.deepEqual(only(rows, 'plugins')['route'], { id: id.toLowerCase() });
    assert.deepEqual(only(rows, 'routes')['service'], { id: only(rows, 'services').id });
    assert.equal(only(rows, 'routes').id, id.toLowerCase());
  });

  it('an unknown reference, and one that is not text', async () => {
    assert.deepEqual(await linesOf({ routes: [{ name: 'r', paths: ['/'], service: 'x' }] }), [
      "routes[0].service: invalid reference 'service: x' (no such entry in 'services')",
    ]);
    assert.deepEqual(
      await linesOf({
        plugins: [
          { name: 'cors', service: { id: 'x' } },
          { name: 'cors', route: 1 },
        ],
      }),
      ['plugins[0].service: expected a string', 'plugins[1].route: expected a string'],
    );
  });

  it('a nested entity has no references of its own', async () => {
    const lines = await linesOf({
      consumers: [{ username: 'bob' }],
      services: [{ name: 's', host: 'h', plugins: [{ name: 'cors', consumer: 'bob', service: 's' }] }],
    });
    assert.deepEqual(lines, [
      'services[0].plugins[0].consumer: value must be null',
      'services[0].plugins[0].service: value must be null',
    ]);
  });

  it('a list in the wrong entity is an unknown field', async () => {
    assert.deepEqual(await linesOf({ consumers: [{ username: 'a', routes: [] }] }), [
      'consumers[0].routes: unknown field',
    ]);
  });
});

describe('ids', () => {
  it('are derived from names', async () => {
    const rows = await rowsOf({
      services: [{ name: 'my-service', host: 'h' }],
      routes: [{ name: 'my-route', paths: ['/'] }],
      consumers: [{ username: 'my-user' }],
      upstreams: [{ name: 'my-upstream' }],
      plugins: [{ name: 'key-auth' }],
    });
    assert.equal(only(rows, 'services').id, '0855b320-0dd2-547d-891d-601e9b38647f');
    assert.equal(only(rows, 'routes').id, '481a9539-f49c-51b6-b2e2-fe99ee68866c');
    assert.equal(only(rows, 'consumers').id, '4b1b701d-de2b-5588-9aa2-3b97061d9f52');
    assert.equal(only(rows, 'upstreams').id, '00402a2c-1725-5592-97af-b204bc733b7a');
    assert.equal(only(rows, 'plugins').id, '6b4f38d1-e026-540b-a5ea-8634739dd2a7');
  });

  it('in the document win; one that is not a UUID is refused', async () => {
    const id = '11111111-2222-4333-8444-555555555555';
    assert.equal(only(await rowsOf({ services: [{ id, name: 'my-service', host: 'h' }] }), 'services').id, id);
    assert.deepEqual(
      await linesOf({
        services: [
          { id: 'x', host: 'h' },
          { id: 5, host: 'h' },
        ],
      }),
      ['services[0].id: expected a valid UUID', 'services[1].id: expected a string'],
    );
  });
});

describe('the rows that are there', () => {
  const config = {
    services: [{ name: 's', host: 'h', routes: [{ paths: ['/nameless'] }] }],
    consumers: [
      {
        username: 'bob',
        keyauth_credentials: [{}],
        jwt_secrets: [{ key: 'j' }],
        basicauth_credentials: [{ username: 'u', password: 'secret' }],
      },
      { custom_id: 'c', hmacauth_credentials: [{ username: 'h' }] },
    ],
    upstreams: [{ name: 'u', targets: [{ target: 'a' }] }],
    plugins: [{ name: 'session' }],
  };

  it('a document that was applied before changes nothing: the rows are the same objects', async () => {
    for (const hashKeys of [false, true]) {
      const given = { ...config, keyauth_credentials: [{ key: 'given', consumer: 'bob' }] };
      const withoutKeyless = {
        ...given,
        consumers: given.consumers.map(({ keyauth_credentials: _, ...rest }) => rest),
      };
      const first = await rowsOf(withoutKeyless, { hashKeys });
      const second = await rowsOf(withoutKeyless, { hashKeys, current: first, now: now + 5000 });
      for (const [entity, rows] of Object.entries(first)) {
        assert.ok(
          rows.every((row, index) => row === second[entity]?.[index]),
          entity,
        );
      }
    }
  });

  it('an id, secrets and created_at persist through a change', async () => {
    const first = await rowsOf(config);
    const changed = {
      ...config,
      services: [{ name: 's', host: 'other' }],
      consumers: config.consumers.map((one) => ({ ...one, tags: ['t'] })),
    };
    const second = await rowsOf(changed, { current: first, now: now + 5000 });
    const service = only(second, 'services');
    assert.equal(service.created_at, now);
    assert.equal(service['updated_at'], now + 5000);
    assert.equal(service.id, only(first, 'services').id);
    assert.equal(second['consumers']?.[1]?.id, first['consumers']?.[1]?.id, 'by custom_id');
    assert.deepEqual(only(second, 'jwt_secrets'), only(first, 'jwt_secrets'));
    assert.deepEqual(only(second, 'hmacauth_credentials'), only(first, 'hmacauth_credentials'));
    assert.deepEqual(only(second, 'plugins'), only(first, 'plugins'));
  });

  it('an entity of the Admin API keeps its random id', async () => {
    const id = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    const current = await rowsOf({ services: [{ id, name: 's', host: 'h' }] });
    const rows = await rowsOf(
      { services: [{ name: 's', host: 'h', routes: [{ name: 'r', paths: ['/'] }] }] },
      { current },
    );
    assert.equal(only(rows, 'services').id, id);
    assert.deepEqual(only(rows, 'routes')['service'], { id });
  });

  it('two entities never share an id, whatever was renamed', async () => {
    // `old` has the id that is derived from `a`.
    const derived = only(await rowsOf({ services: [{ name: 'a', host: 'h' }] }), 'services').id;
    const current = await rowsOf({ services: [{ id: derived, name: 'old', host: 'h' }] });
    const rows = await rowsOf(
      {
        services: [
          { name: 'a', host: 'h' },
          { name: 'old', host: 'h' },
        ],
      },
      { current },
    );
    assert.equal(rows['services']?.[1]?.id, derived);
    assert.notEqual(rows['services']?.[0]?.id, derived);
  });

  it('another id in the document makes another row, with the same secret', async () => {
    const first = await rowsOf({ consumers: [{ username: 'b', jwt_secrets: [{ key: 'k' }] }] });
    const id = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    const second = await rowsOf(
      { consumers: [{ username: 'b', jwt_secrets: [{ id, key: 'k' }] }] },
      { current: first },
    );
    assert.equal(only(second, 'jwt_secrets').id, id);
    assert.equal(only(second, 'jwt_secrets')['secret'], only(first, 'jwt_secrets')['secret']);
  });

  it('whole seconds of created_at do not move an entity', async () => {
    const first = await rowsOf({ services: [{ name: 's', host: 'h' }] });
    const given = { services: [{ name: 's', host: 'h', created_at: Math.floor(now / 1000), updated_at: 5 }] };
    assert.equal(only(await rowsOf(given, { current: first }), 'services'), only(first, 'services'));
    const moved = { services: [{ name: 's', host: 'h', created_at: 1000 }] };
    assert.equal(only(await rowsOf(moved, { current: first }), 'services').created_at, 1_000_000);
  });

  it('applying a document again does not extend the life of a credential', async () => {
    const expiring = (ttl: number) => ({ consumers: [{ username: 'b', keyauth_credentials: [{ key: 'k', ttl }] }] });
    const first = await rowsOf(expiring(3600));
    assert.equal(only(first, 'keyauth_credentials')['expires_at'], now + 3_600_000);
    const again = await rowsOf(expiring(3600), { current: first, now: now + 60_000 });
    assert.equal(only(again, 'keyauth_credentials')['expires_at'], now + 3_600_000);
    const shorter = await rowsOf(expiring(60), { current: first, now: now + 60_000 });
    assert.equal(only(shorter, 'keyauth_credentials')['expires_at'], now + 120_000);
  });
});

describe('unique values', () => {
  it('across the document', async () => {
    assert.deepEqual(
      await linesOf({
        services: [
          { name: 'a', host: 'h', routes: [{ name: 'r', paths: ['/'] }] },
          { name: 'a', host: 'h' },
        ],
        routes: [{ name: 'r', paths: ['/x'] }],
        consumers: [{ username: 'bob' }, { username: 'b2', custom_id: 'c' }, { custom_id: 'c' }],
      }),
      [
        "consumers[2]: uniqueness violation: 'consumers' entity with custom_id set to 'c' already declared",
        "services[1]: uniqueness violation: 'services' entity with name set to 'a' already declared",
        "routes[0]: uniqueness violation: 'routes' entity with name set to 'r' already declared",
      ],
    );
  });

  it('a primary key twice', async () => {
    const id = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    const lines = await linesOf({
      services: [
        { id, host: 'a' },
        { id: id.toUpperCase(), host: 'b' },
      ],
      upstreams: [{ name: 'u', targets: [{ target: 'a:80' }, { target: 'a:80' }] }],
    });
    assert.equal(
      lines.find((line) => line.startsWith('services')),
      `services[1]: uniqueness violation: 'services' entity with primary key set to '${id}' already declared`,
    );
    assert.match(
      lines.find((line) => line.startsWith('upstreams')) ?? '',
      /^upstreams\[0\]\.targets\[1\]: uniqueness violation: 'targets' entity with primary key set to '[0-9a-f-]{36}' already declared$/,
    );
  });

  it('combinations of fields, and no secret in a message', async () => {
    const lines = await linesOf({
      consumers: [{ username: 'b', keyauth_credentials: [{ key: 'hidden' }, { key: 'hidden' }] }],
      plugins: [{ name: 'cors' }, { id: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee', name: 'cors' }],
    });
    assert.equal(lines.length, 2);
    assert.match(
      lines.join('\n'),
      /'plugins' entity with name,route,service,consumer set to 'cors,,,' already declared/,
    );
    assert.match(lines.join('\n'), /'keyauth_credentials' entity with key already declared/);
    assert.ok(!lines.join('\n').includes('hidden'));
  });
});

describe('rules over several entities', () => {
  it('protocols of plugins and routes', async () => {
    const config = (protocols: readonly string[]) => ({
      services: [
        {
          name: 's',
          host: 'h',
          protocol: 'tcp',
          plugins: [{ name: 'ip-restriction', protocols, config: { allow: ['10.0.0.0/8'] } }],
          routes: [{ name: 'r', protocols: ['tcp'], sources: [{ port: 1 }] }],
        },
      ],
    });
    await rowsOf(config(['tcp']));
    assert.deepEqual(await linesOf(config(['http'])), [
      "services[0].plugins[0].protocols: must match the protocols of at least one route pointing to this Plugin's service",
    ]);
  });
});

describe('older versions and hashes', () => {
  it('mark regexes in paths for 1.1 and 2.1', async () => {
    const routes = [{ name: 'r', paths: ['/plain', '/a/\\d+', '/x$'] }];
    const paths = async (version: string) =>
      only(await rowsOf({ _format_version: version, routes }), 'routes')['paths'];
    assert.deepEqual(await paths('1.1'), ['/plain', '~/a/\\d+', '~/x$']);
    assert.deepEqual(await paths('2.1'), ['/plain', '~/a/\\d+', '~/x$']);
    assert.deepEqual(await paths('3.0'), ['/plain', '/a/\\d+', '/x$']);
  });

  it('passwords are hashed, unless `_transform` is false', async () => {
    const of = (password: string) => ({
      consumers: [{ username: 'b', basicauth_credentials: [{ username: 'u', password }] }],
    });
    const stored = async (config: Fields) => only(await rowsOf(config), 'basicauth_credentials')['password'];
    const hash = 'da39a3ee5e6b4b0d3255bfef95601890afd80709';
    assert.match(String(await stored(of('plain'))), /^\$scrypt\$/);
    assert.match(String(await stored(of(hash))), /^\$scrypt\$/, 'a password that looks like a hash');
    assert.equal(await stored({ _transform: false, ...of(hash) }), `$kong-sha1$${hash}`);
    const scrypt = String(await stored(of('plain')));
    assert.equal(await stored({ _transform: false, ...of(scrypt) }), scrypt);
    const lines = await linesOf({ _transform: false, ...of('plain') });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /password: expected a hash of a known kind/);
  });

  it('keys whose hash alone is known', async () => {
    const first = await rowsOf(
      { consumers: [{ username: 'b', keyauth_credentials: [{ key: 'abc' }] }] },
      { hashKeys: true },
    );
    const { key, key_hash, key_prefix } = only(first, 'keyauth_credentials');
    assert.equal(key, null);
    const hashed = { consumers: [{ username: 'b', keyauth_credentials: [{ key, key_hash, key_prefix }] }] };
    assert.equal(only(await rowsOf(hashed), 'keyauth_credentials')['key_hash'], key_hash);
    const other = {
      consumers: [
        {
          username: 'b',
          keyauth_credentials: [{ id: only(first, 'keyauth_credentials').id, key: null, key_hash: 'f'.repeat(64) }],
        },
      ],
    };
    const rows = await rowsOf(other, { current: first });
    assert.equal(only(rows, 'keyauth_credentials')['key_hash'], 'f'.repeat(64), 'not the hash of the row before');
  });
});

describe('documents of other programs', () => {
  const id = (last: number) => `aaaaaaaa-bbbb-4ccc-8ddd-00000000000${last}`;
  const tags = ['k8s-name:web', 'k8s-namespace:default', 'k8s-kind:Ingress', 'managed-by-ingress-controller'];

  it('an ingress controller: ids, tags, certificates with SNIs, references by id', async () => {
    const rows = await rowsOf({
      certificates: [
        { id: id(1), cert: rsaCertificate, key: rsaKey, tags, snis: [{ name: 'web.test' }, { name: '*.web.test' }] },
      ],
      ca_certificates: [{ id: id(2), cert: authority }],
      upstreams: [
        {
          id: id(3),
          name: 'web.default.80.svc',
          algorithm: 'round-robin',
          tags,
          targets: [{ target: '10.0.0.1:80', weight: 1 }],
        },
      ],
      services: [
        {
          id: id(4),
          name: 'default.web.80',
          host: 'web.default.80.svc',
          protocol: 'https',
          client_certificate: id(1),
          ca_certificates: [id(2)],
          tags,
          routes: [
            {
              id: id(5),
              name: 'default.web.web.test.80',
              paths: ['/', '~/$'],
              hosts: ['web.test'],
              regex_priority: 0,
              request_buffering: true,
              tags,
            },
          ],
          plugins: null,
        },
      ],
      consumers: [
        { id: id(6), username: 'ann', tags, keyauth_credentials: [{ key: 'k', tags }], acls: [{ group: 'g' }] },
      ],
      plugins: [
        { id: id(7), name: 'rate-limiting', config: { minute: 5 }, route: id(5), consumer: id(6), tags },
        { name: 'key-auth', service: id(4), protocols: ['http', 'https'], enabled: true },
      ],
    });
    assert.deepEqual(
      rows['snis']?.map((row) => [row['name'], row['certificate']]),
      [
        ['web.test', { id: id(1) }],
        ['*.web.test', { id: id(1) }],
      ],
    );
    assert.deepEqual(only(rows, 'services')['client_certificate'], { id: id(1) });
    assert.deepEqual(rows['plugins']?.[0]?.['consumer'], { id: id(6) });
    // What it sends for an empty cluster.
    await rowsOf({ upstreams: [{ name: 'kong', algorithm: 'round-robin' }] });
  });

  it('SNIs are objects, and belong to one certificate', async () => {
    const certificate = { cert: rsaCertificate, key: rsaKey };
    assert.deepEqual(await linesOf({ certificates: [{ ...certificate, snis: ['web.test'] }] }), [
      'certificates[0].snis[0]: expected a record',
    ]);
    const snis = [{ name: 'web.test' }];
    assert.deepEqual(
      await linesOf({
        certificates: [
          { ...certificate, snis },
          { cert: ecCertificate, key: ecKey, snis },
        ],
      }),
      ["certificates[1].snis[0]: uniqueness violation: 'snis' entity with name set to 'web.test' already declared"],
    );
    assert.deepEqual(await linesOf({ certificates: [{ cert: rsaCertificate, key: ecKey }] }), [
      'certificates[0]: certificate does not match key',
    ]);
  });

  it('certificates without ids are found again, as are nameless routes', async () => {
    const config = {
      certificates: [{ cert: rsaCertificate, key: rsaKey, snis: [{ name: 'a.test' }] }],
      ca_certificates: [{ cert: authority }],
      routes: [{ paths: ['/a'] }, { paths: ['/b'], plugins: [{ name: 'cors' }] }],
    };
    const first = await rowsOf(config);
    const second = await rowsOf({ ...config, routes: config.routes.toReversed() }, { current: first, now: now + 1000 });
    for (const [entity, rows] of Object.entries(first)) {
      assert.ok(
        rows.every((row) => second[entity]?.includes(row)),
        entity,
      );
    }
    const tagged = { ...config, certificates: [{ ...config.certificates[0], tags: ['t'] }] };
    assert.equal(only(await rowsOf(tagged, { current: first }), 'certificates').id, only(first, 'certificates').id);
  });

  it('an authority that a service names must stay', async () => {
    const authorities = [{ id: id(2), cert: authority }];
    const services = [{ name: 's', host: 'h', protocol: 'https', ca_certificates: [id(2)] }];
    const current = await rowsOf({ ca_certificates: authorities, services });
    const lines = await linesOf({ services }, { current });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^services\[0\]\.ca_certificates: ca certificate .* is still referenced by services/);
  });
});

describe('a long document', () => {
  it('lets other work run', async () => {
    const services = Array.from({ length: 5000 }, (_, index) => ({
      name: `s${index}`,
      host: 'h',
      routes: [{ paths: [`/${index}`] }],
    }));
    const current = await rowsOf({ services });
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const rows = await rowsOf({ services }, { current });
    done = true;
    assert.ok(turns > 5, `${turns} turns`);
    assert.equal(rows['routes']?.length, 5000);
    assert.ok(
      rows['routes']?.every((row, index) => row === current['routes']?.[index]),
      'nameless routes are found again',
    );
  });
});

describe('hostile values', () => {
  it('names such as __proto__ and constructor are only names', async () => {
    assert.deepEqual(await linesOf({ constructor: [], toString: [] }), [
      'constructor: unknown field',
      'toString: unknown field',
    ]);
    assert.deepEqual(await linesOf({ services: [{ host: 'h', constructor: 1, hasOwnProperty: 2 }] }), [
      'services[0].constructor: unknown field',
      'services[0].hasOwnProperty: unknown field',
    ]);
    assert.deepEqual(await linesOf({ plugins: [{ name: '__proto__' }, { name: 'constructor' }] }), [
      "plugins[0].name: plugin '__proto__' not enabled; add it to the 'plugins' configuration property",
      "plugins[1].name: plugin 'constructor' not enabled; add it to the 'plugins' configuration property",
    ]);
    assert.deepEqual(await linesOf({ routes: [{ name: 'r', paths: ['/'], service: '__proto__' }] }), [
      "routes[0].service: invalid reference 'service: __proto__' (no such entry in 'services')",
    ]);
  });

  it('a value of any type in any field is a problem at most', async () => {
    const values = [
      null,
      true,
      -1,
      1e308,
      Number.NaN,
      '',
      'x',
      '\0',
      [],
      [null],
      [[]],
      ['x', 5],
      {},
      { id: 5 },
      { id: null },
      { a: { b: [] } },
    ];
    const { definitions } = await bundledRegistry();
    for (const { name, inConfig, schema } of definitions) {
      if (!inConfig) continue;
      const list = [...schema.fields.keys(), 'url', 'routes', 'plugins', 'unknown'].flatMap((field) =>
        values.map((value) => ({ name: 'key-auth', host: 'h', [field]: value })),
      );
      const { problems } = await declare({ [name]: list });
      assert.ok(problems.length > 0, name);
      assert.ok(problemLines(problems).every((line) => line.length < 10_000));
      flattenErrors(problems);
      parseErrorText(problems);
      keepLastGood(await declare({ [name]: list }), {}, await bundledRegistry());
    }
  });
});
