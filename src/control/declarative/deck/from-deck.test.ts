import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeclaredConfig } from '../contract.ts';
import { declare } from '../declarative.fixture.ts';
import { parseDocument } from '../document/parse-document.ts';
import { problemLines } from '../problems/problem-lines.ts';

async function rowsOf(text: string): Promise<DeclaredConfig['rows']> {
  const { rows, problems } = await declare(text, { deck: true });
  assert.deepEqual(problemLines(problems), []);
  return rows;
}

const head = '_format_version: "3.0"\n_workspace: default\n_konnect: {control_plane_name: x}\n';

test('tags that select are tags of every entity', async () => {
  const text = `${head}_info: {select_tags: [team, blue]}
services:
- name: s
  host: h
  tags: [own, team]
  routes: [{name: r, paths: [/], plugins: [{name: cors}]}]
consumers: [{username: u, keyauth_credentials: [{key: k}]}]
`;
  const rows = await rowsOf(text);
  assert.deepEqual(rows['services']?.[0]?.['tags'], ['own', 'team', 'blue']);
  for (const entity of ['routes', 'plugins', 'consumers', 'keyauth_credentials']) {
    assert.deepEqual(rows[entity]?.[0]?.['tags'], ['team', 'blue'], entity);
  }
  assert.deepEqual(parseDocument(text, { deck: true }).selectTags, ['team', 'blue']);
});

test('defaults, which entities and explicit nulls win over', async () => {
  const rows = await rowsOf(`${head}_info:
  defaults:
    service: {retries: 7, path: /p}
    route: {strip_path: false}
    upstream: {slots: 100, healthchecks: {threshold: 5, passive: {type: tcp}}}
    target: {weight: 7}
services:
- {name: a, host: h}
- {name: b, host: h, retries: 1, path: null, routes: [{name: r, paths: [/]}]}
upstreams: [{name: u, healthchecks: {passive: {unhealthy: {tcp_failures: 2}}}, targets: [{target: t}]}]
`);
  assert.deepEqual(
    rows['services']?.map((row) => [row['retries'], row['path']]),
    [
      [7, '/p'],
      [1, null],
    ],
  );
  assert.equal(rows['routes']?.[0]?.['strip_path'], false);
  assert.equal(rows['targets']?.[0]?.['weight'], 7);
  const checks = rows['upstreams']?.[0]?.['healthchecks'] as {
    threshold: number;
    passive: { type: string; unhealthy: object };
  };
  assert.deepEqual([checks.threshold, checks.passive.type], [5, 'tcp']);
  assert.equal((checks.passive.unhealthy as { tcp_failures: number }).tcp_failures, 2);
});

test('shared configurations of plugins', async () => {
  const rows = await rowsOf(`${head}_plugin_configs:
  limit: {minute: 5, policy: local}
plugins:
- {name: rate-limiting, _config: limit}
services:
- {name: s, host: h, plugins: [{name: rate-limiting, _config: limit, config: {minute: 9}}]}
`);
  assert.deepEqual(
    rows['plugins']?.map((row) => (row['config'] as { minute: number }).minute),
    [5, 9],
  );
  await assert.rejects(
    rowsOf(`${head}plugins: [{name: cors, _config: nope}]\n`),
    /there is no 'nope' in _plugin_configs/,
  );
});

test('references as objects, also in nested entities; names of SNIs as strings', async () => {
  const rows = await rowsOf(
    `${head}
services:
- {name: s, host: h, plugins: [{name: rate-limiting, consumer: {username: u}, config: {minute: 1}}]}
consumers: [{username: u}]
routes: [{name: r, paths: [/], service: {name: s}}]
`,
  );
  assert.deepEqual(rows['routes']?.[0]?.['service'], { id: rows['services']?.[0]?.id });
  assert.deepEqual(rows['plugins']?.[0]?.['consumer'], { id: rows['consumers']?.[0]?.id });
});

const variable = (name: string) => ['$', '{{ env "', name, '" }}'].join('');

test('variables of decK must have been replaced', () => {
  const read = (text: string) => parseDocument(`${head}${text}`, { deck: true });
  assert.throws(
    () => read(`consumers:\n- basicauth_credentials: [{username: u, password: '${variable('DECK_PW')}'}]\n`),
    /variable of decK/,
  );
  assert.throws(
    () => read(`services:\n- {name: s, host: h, x: '${variable('DECK_H')}'}\n`),
    (error: { position?: unknown }) => {
      assert.deepEqual(error.position, { line: 5, column: 22 });
      return true;
    },
  );
});

test('these keys are unknown in a document of Kong, and wrong ones are refused', async () => {
  const { problems } = await declare(head);
  assert.deepEqual(problemLines(problems), ['line 2: _workspace: unknown field', 'line 3: _konnect: unknown field']);
  assert.throws(() => parseDocument('_info: 5', { deck: true }), /_info: expected an object/);
  assert.throws(() => parseDocument('_info: {select_tags: x}', { deck: true }), /expected a list of strings/);
});

test('the SNIs of a route are names, those of a certificate entities', () => {
  const { content } = parseDocument(
    JSON.stringify({
      services: [{ name: 'a', routes: [{ name: 'b', snis: ['a.test'] }] }],
      certificates: [{ cert: 'c', key: 'k', snis: ['a.test', { name: 'b.test' }] }],
    }),
    { deck: true },
  );
  assert.deepEqual(content, {
    services: [{ name: 'a', routes: [{ name: 'b', snis: ['a.test'] }] }],
    certificates: [{ cert: 'c', key: 'k', snis: [{ name: 'a.test' }, { name: 'b.test' }] }],
  });
});

test('a variable of decK in a list of names is refused', () => {
  const text = JSON.stringify({ routes: [{ snis: [variable('DECK_SNI')] }] });
  assert.throws(() => parseDocument(text, { deck: true }), /has a variable of decK/);
});
