import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOfRecord, draftOfRoute, emptyDraft, explainRequest, jsonProblem, newHeader } from './request-draft.ts';
import { requestTarget } from './request-target.ts';
import { exampleUrl } from './route-example.ts';

test('an example of a route matches it', () => {
  const example = (fields: object) => exampleUrl({ id: 'x', ...fields });
  assert.deepEqual(example({ paths: ['/users'] }), { url: '/users', exact: true });
  assert.deepEqual(example({ hosts: ['*.example.com'], paths: null }), { url: 'http://www.example.com/', exact: true });
  assert.deepEqual(example({ hosts: ['example.*'], protocols: ['https'] }).url, 'https://example.com/');
  assert.deepEqual(example({ protocols: ['https'], snis: ['tls.test'] }).url, 'https://tls.test/');
  for (const [path, url] of [
    ['~/users/(?<id>\\d+)$', '/users/1'],
    ['~/a/[^/]+/b', '/a/x/b'],
    ['~/v(1|2)/.*', '/v1/x'],
    ['~/files/\\w+\\.json', '/files/a.json'],
  ] as const) {
    assert.deepEqual(example({ paths: [path] }), { url, exact: true });
    assert.match(url, new RegExp(`^${path.slice(1)}`));
  }
  assert.deepEqual(example({ paths: ['~/odd/(?=x)\\S{3}'] }), { url: '/odd/', exact: false });
});

test('a route fills in the method, the URL and the headers that it needs', () => {
  const route = { id: 'x', methods: ['PUT'], paths: ['/a'], headers: { 'X-Version': ['2'], 'X-Kind': ['~*^a'] } };
  const draft = draftOfRoute(route, { ...emptyDraft, headers: [newHeader('x-version', '1'), newHeader('A', 'b')] });
  assert.deepEqual([draft.method, draft.url], ['PUT', '/a']);
  assert.deepEqual(
    draft.headers.map(({ name, value }) => [name, value]),
    [
      ['A', 'b'],
      ['X-Version', '2'],
      ['X-Kind', ''],
    ],
  );
  assert.match(draft.notes.join(' '), /X-Kind/);
});

test('a recorded request is filled in without what the gateway sets and the record hides', () => {
  const request = {
    method: 'POST',
    scheme: 'https',
    host: 'api.test:8443',
    path_as_sent: '/a%20b',
    query: 'q=1&apikey=REDACTED',
    headers: { host: 'api.test:8443', 'content-length': '2', authorization: 'REDACTED', 'x-many': ['1', '2'] },
    body: { media_type: 'application/json', bytes: 9, truncated: true, text: '{"a":' },
  };
  const draft = draftOfRecord({ id: 'r', explanation: { request } });
  assert.deepEqual([draft.method, draft.url, draft.body], ['POST', 'https://api.test:8443/a%20b?q=1&apikey=', '{"a":']);
  assert.deepEqual(
    draft.headers.map(({ name, value, masked }) => [name, value, masked]),
    [
      ['authorization', '', true],
      ['x-many', '1', false],
      ['x-many', '2', false],
    ],
  );
  assert.equal(draft.notes.length, 3);
  const bare = draftOfRecord({ id: 'r', method: 'GET', host: 'a.test', scheme: 'http', path: '/b', explanation: null });
  assert.equal(bare.url, 'http://a.test/b');
  const none = draftOfRecord({ explanation: { request: { ...request, body: '12 bytes', query: null } } });
  assert.match(none.notes.join(' '), /not recorded \(12 bytes\)/);
});

test('headers of one name are sent together; the JSON of a body is checked where it should be JSON', () => {
  const headers = [newHeader('X-A', '1'), newHeader('x-a', '2'), newHeader('', 'left out')];
  assert.deepEqual(explainRequest({ ...emptyDraft, url: ' /a ', headers, body: 'AA==', isBase64: true }), {
    method: 'GET',
    url: '/a',
    headers: { 'X-A': ['1', '2'] },
    body_base64: 'AA==',
  });
  assert.equal(jsonProblem({ ...emptyDraft, body: 'a=1' }), null);
  assert.equal(jsonProblem({ ...emptyDraft, body: '{"a":1}' }), '');
  assert.notEqual(jsonProblem({ ...emptyDraft, body: '{"a":1' }) ?? '', '');
  const typed = { ...emptyDraft, headers: [newHeader('content-type', 'application/problem+json')], body: 'x' };
  assert.notEqual(jsonProblem(typed) ?? '', '');
});

test('the target of a request is what the gateway receives', () => {
  assert.equal(requestTarget('http://a.test'), '/');
  assert.equal(requestTarget('http://a.test?x'), '/?x');
  assert.equal(requestTarget('/ä/../%2e?q=ö'), '/%C3%A4/../%2e?q=%C3%B6');
  for (const wrong of ['', 'a', 'ftp://a/', '/a b']) assert.equal(requestTarget(wrong), null);
});
