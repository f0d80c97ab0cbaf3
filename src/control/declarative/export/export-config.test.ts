import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { smallestConfigs } from '../../../../test/support/smallest-configs.ts';
import { bundledPlugins } from '../../../plugins/registry.ts';
import {
  authority,
  ecCertificate,
  ecKey,
  rsaCertificate,
  rsaKey,
} from '../../../shared/entities/certificates.fixture.ts';
import type { ConfigRows } from '../contract.ts';
import { bundledRegistry, declare, now } from '../declarative.fixture.ts';
import { parseDocument } from '../document/parse-document.ts';
import { problemLines } from '../problems/problem-lines.ts';
import { exportConfig } from './export-config.ts';
import type { ExportOptions } from './export-options.ts';

async function rowsOf(...args: Parameters<typeof declare>): Promise<ConfigRows> {
  const { rows, problems } = await declare(...args);
  assert.deepEqual(problemLines(problems), []);
  return rows;
}

async function textOf(rows: ConfigRows, options: Partial<ExportOptions> = {}): Promise<string> {
  return exportConfig(rows, { entities: await bundledRegistry(), style: 'deck', format: 'yaml', now, ...options });
}

const awkward = [
  'yes',
  'null',
  '0777',
  '1e3',
  '~',
  '3.0',
  ' a ',
  "it's",
  '"q"',
  'a: b',
  '# c',
  '- d',
  '*e',
  '&f',
  '!g',
  '|',
  '{h}',
  'x\ny\n',
  'ü',
  '%i',
  '@j',
  '`k',
  '2024-01-01',
  '0x1F',
  '12:30',
  '<<',
  '=',
  'off',
];

/** One of every entity, with what is hard to write, and every bundled plugin. */
const everything = {
  certificates: [
    {
      cert: rsaCertificate,
      key: rsaKey,
      cert_alt: ecCertificate,
      key_alt: ecKey,
      snis: [{ name: 'b.test' }, { name: '*.a.test' }],
    },
  ],
  ca_certificates: [{ id: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000001', cert: authority }],
  consumers: [
    {
      username: 'ann',
      custom_id: 'c-1',
      tags: awkward.filter((text) => !/[,/\n]/.test(text)),
      keyauth_credentials: [{ key: 'k1' }, { key: 'k2', ttl: 5000 }],
      basicauth_credentials: [{ username: 'yes', password: 'secret' }],
      jwt_secrets: [{ key: 'j', algorithm: null }],
      hmacauth_credentials: [{ username: 'h' }],
      oauth2_credentials: [
        { name: 'app', client_id: 'i', hash_secret: true, client_secret: 's', redirect_uris: ['https://x.test/'] },
      ],
      acls: awkward.map((group) => ({ group })),
      plugins: [{ name: 'rate-limiting', config: { minute: 1 } }],
    },
    { custom_id: 'nameless', acls: [{ group: 'g' }] },
  ],
  mtls_auth_credentials: [
    { consumer: 'ann', subject_name: 'ann.test', ca_certificate: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000001' },
  ],
  upstreams: [
    {
      name: 'up.test',
      hash_on: 'header',
      hash_on_header: 'x-a',
      targets: [{ target: 'a.test', weight: 0 }, { target: '[::1]:80' }],
    },
  ],
  services: [
    {
      name: 'main',
      host: 'up.test',
      routes: [
        { name: 'r', paths: ['/a', '~/b/\\d+$'], headers: { 'x-b': ['yes', '~*c'] }, plugins: [{ name: 'cors' }] },
        { paths: ['/nameless'], hosts: ['*.test'], plugins: [{ name: 'key-auth' }] },
      ],
    },
    { host: 'nameless.test', plugins: [{ name: 'jwt' }] },
    ...[...bundledPlugins.keys()].map((name) => ({ name: `of-${name}`, host: 'h.test' })),
  ],
  apis: [{ name: 'of-main', service: 'main', title: 'Main', document: 'openapi: 3.1.0' }],
  routes: [{ name: 'alone', protocols: ['tcp'], sources: [{ ip: '10.0.0.0/8', port: 5 }] }],
  plugins: [
    { name: 'correlation-id', instance_name: 'one', tags: [] },
    { name: 'rate-limiting', service: 'main', consumer: 'ann', config: { minute: 3 }, enabled: false },
    ...[...bundledPlugins.keys()].map((name) => ({
      name,
      ...(name === 'acme' ? {} : { service: `of-${name}` }),
      config: smallestConfigs[name] ?? {},
    })),
  ],
};

describe('a config that is exported and declared again', () => {
  const forms = (['kong', 'deck'] as const).flatMap((style) =>
    (['yaml', 'json'] as const).flatMap((format) => [false, true].map((hashKeys) => ({ style, format, hashKeys }))),
  );
  for (const { style, format, hashKeys } of forms) {
    it(`is the same: ${style}, ${format}${hashKeys ? ', hashed keys' : ''}`, async () => {
      const current = await rowsOf(everything, { hashKeys });
      for (const { name, inConfig } of (await bundledRegistry()).definitions) {
        assert.ok(!inConfig || (current[name]?.length ?? 0) > 0, `there are ${name}`);
      }
      const text = await textOf(current, { style, format });
      const again = await rowsOf(text, { current, hashKeys, deck: style === 'deck', now: now + 900 });
      for (const [entity, rows] of Object.entries(current)) {
        // decK would refuse the document.
        const left = style === 'deck' && entity === 'apis';
        assert.equal(again[entity]?.length ?? 0, left ? 0 : rows.length, entity);
        if (left) continue;
        const same = new Set(again[entity]);
        for (const row of rows) {
          assert.ok(
            same.has(row),
            `${entity}: ${JSON.stringify(row)}\n${JSON.stringify(again[entity]?.find(({ id }) => id === row.id))}`,
          );
        }
      }
      assert.equal(await textOf(again, { style, format }), text);
    });
  }

  it('is the same in another store, apart from times', async () => {
    const current = await rowsOf(everything);
    const text = await textOf(current, { style: 'kong', withIds: true });
    const elsewhere = await rowsOf(text, { now: now + 5000 });
    const timeless = (rows: ConfigRows) =>
      Object.entries(rows).map(([entity, list]) => [
        entity,
        list.map(({ created_at: _a, updated_at: _b, expires_at: _c, ...row }) => row),
      ]);
    assert.deepEqual(timeless(elsewhere), timeless(current));
  });
});

describe('in the form of decK', () => {
  it('entities are nested and sorted, without ids, times and nulls', async () => {
    const rows = await rowsOf({
      services: [
        { name: 's2', host: 'b' },
        {
          name: 's1',
          host: 'a',
          routes: [
            { name: 'r2', paths: ['/2'] },
            { name: 'r1', paths: ['/1'], plugins: [{ name: 'bot-detection' }] },
          ],
        },
      ],
      consumers: [{ username: 'bob', keyauth_credentials: [{ key: 'b' }, { key: 'a' }] }],
      plugins: [{ name: 'rate-limiting', service: 's1', consumer: 'bob', config: { minute: 5 } }],
      upstreams: [{ name: 'u', targets: [{ target: 'x' }] }],
    });
    const text = await textOf(rows);
    const { content } = parseDocument(text);
    assert.deepEqual(Object.keys(content), ['_format_version', 'consumers', 'plugins', 'services', 'upstreams']);
    const [plugin] = content['plugins'] as readonly Record<string, unknown>[];
    assert.deepEqual(
      [plugin?.['service'], plugin?.['consumer'], plugin?.['route'], plugin?.['id']],
      ['s1', 'bob', undefined, undefined],
    );
    assert.deepEqual(content['consumers'], [{ keyauth_credentials: [{ key: 'a' }, { key: 'b' }], username: 'bob' }]);
    assert.match(
      text,
      new RegExp(
        [
          '^services:',
          '- connect_timeout: 60000',
          '  enabled: true',
          '  host: a',
          '  name: s1',
          '  port: 80',
          '  protocol: http',
          '  read_timeout: 60000',
          '  retries: 5',
          '  routes:',
          '  - https_redirect_status_code: 426',
          '    name: r1',
          '    path_handling: v0',
          '    paths:',
          '    - /1',
          '    plugins:',
          '    - config:',
          '        allow: (?:null|\\[\\])',
        ].join('\n'),
        'm',
      ),
    );
    assert.ok(!text.includes('created_at'));
    assert.ok(text.startsWith('_format_version: "3.0"\n'));
  });

  it('ids are there on request, and with hashes that depend on them', async () => {
    const rows = await rowsOf({ services: [{ name: 's', host: 'h' }] });
    const id = rows['services']?.[0]?.id ?? '';
    assert.ok(!(await textOf(rows)).includes(id));
    assert.ok((await textOf(rows, { withIds: true })).includes(id));
    const hashed = await rowsOf({
      services: [{ name: 's', host: 'h' }],
      consumers: [{ username: 'b', basicauth_credentials: [{ username: 'u', password: 'p' }] }],
    });
    assert.ok((await textOf(hashed)).includes(id));
  });

  it('tags that the rows were selected by', async () => {
    const rows = await rowsOf({ services: [{ name: 's', host: 'h', tags: ['team'] }] });
    const text = await textOf(rows, { selectTags: ['team'] });
    assert.deepEqual(parseDocument(text, { deck: true }).selectTags, ['team']);
  });
});

describe('in the form of Kong', () => {
  it('entities are flat and complete', async () => {
    const rows = await rowsOf({ services: [{ name: 's', host: 'h', routes: [{ name: 'r', paths: ['/'] }] }] });
    const text = await textOf(rows, { style: 'kong' });
    assert.ok(text.startsWith("_format_version: '3.0'\n_transform: false\nservices:\n- id: "), text.slice(0, 80));
    const { content } = parseDocument(text);
    const [route] = content['routes'] as readonly Record<string, unknown>[];
    assert.equal(route?.['service'], rows['services']?.[0]?.id);
    assert.equal(route?.['snis'], null);
    assert.equal(route?.['created_at'], Math.floor(now / 1000));
  });
});
