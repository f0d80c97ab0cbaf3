import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../data/router/testing/random.ts';
import { composeUpstreamPath, escapePath, normalisePath } from './path.ts';

const normalised: readonly [raw: string, expected: string | null][] = [
  ['/', '/'],
  ['/a/b', '/a/b'],
  ['/a/', '/a/'],
  ['/ADMIN', '/ADMIN'],
  ['//admin', '/admin'],
  ['/./admin', '/admin'],
  ['/x/../admin', '/admin'],
  ['/%61dmin', '/admin'],
  ['/%2e/admin', '/admin'],
  ['/x/%2E%2e/admin', '/admin'],
  ['/x/.%2e/admin', '/admin'],
  ['/admin%2f..', '/admin%2F..'],
  ['/admin;x', '/admin;x'],
  ['/admin%3bx', '/admin%3Bx'],
  ['/a%20b', '/a b'],
  ['/caf%C3%A9', '/caf\xc3\xa9'],
  ['/a%5cb', '/a\\b'],
  ['/a%25b%3f%23%2F', '/a%25b%3F%23%2F'],
  ['/%2561dmin', '/%2561dmin'],
  ['/a%7Eb%2d%5f%2e', '/a~b-_.'],
  ['/a%0d%0Ab%1f%7f', '/a%0D%0Ab%1F%7F'],
  ['/a/.', '/a/'],
  ['/a/..', '/'],
  ['/a/./b', '/a/b'],
  ['/a///b//', '/a/b/'],
  ['/a//../b', '/a/b'],
  ['/...', '/...'],
  ['/.well-known/x', '/.well-known/x'],
  ['/..x', '/..x'],
  ['/..', null],
  ['/../a', null],
  ['/a/../../b', null],
  ['/a//../../b', null],
  ['//../b', null],
  ['/%2e%2e/b', null],
  ['/%zz', null],
  ['/%', null],
  ['/a%2', null],
  ['/%00', null],
  ['/admin%00', null],
  ['/a\x00b', null],
  ['/a\r\nb', null],
  ['/a\x7fb', null],
  ['/a?b', null],
  ['/a#b', null],
  ['/\u0141', null],
  ['', null],
  ['*', null],
  ['a/b', null],
];

test('a path is normalised by the rules of the proxy, and a bad one is rejected', () => {
  for (const [raw, expected] of normalised) assert.equal(normalisePath(raw), expected, JSON.stringify(raw));
});

test('every byte survives encoding, matching and escaping as the same byte or triplet', () => {
  for (let byte = 1; byte < 256; byte++) {
    const upper = `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    const path = normalisePath(`/x${upper}y`);
    assert.notEqual(path, null);
    const sent = escapePath(path!);
    const char = String.fromCharCode(byte);
    assert.ok(sent === `/x${upper}y` || (sent === `/x${char}y` && /[A-Za-z0-9\-._~]/.test(char)), `${upper}: ${sent}`);
  }
});

test('escaping encodes what is not allowed in a request target and keeps whole triplets', () => {
  assert.equal(escapePath('/a b'), '/a%20b');
  assert.equal(escapePath('/caf\xc3\xa9'), '/caf%C3%A9');
  assert.equal(escapePath('/a\\b"<>^`{|}'), '/a%5Cb%22%3C%3E%5E%60%7B%7C%7D');
  assert.equal(escapePath('/x HTTP/1.1\r\nEvil: 1'), '/x%20HTTP/1.1%0D%0AEvil:%201');
  assert.equal(escapePath('/a%2Fb%zz%'), '/a%2Fb%25zz%25');
  assert.equal(escapePath('/a?b#c'), '/a%3Fb%23c');
  assert.equal(escapePath("/!$&'()*+,;=:@[]"), "/!$&'()*+,;=:@[]");
  assert.equal(escapePath('/\u20ac'), '/%E2%82%AC');
});

const worked: readonly [
  service: string | null,
  route: string,
  strip: boolean | null,
  request: string,
  upstream: string,
][] = [
  ['/', '/', null, '/route/', '/route/'],
  ['/', '/route', false, '/routereq', '/routereq'],
  ['/', '/route', true, '/route', '/'],
  ['/', '/route', true, '/route/', '/'],
  ['/', '/route', true, '/routereq', '/req'],
  ['/', '/route/', true, '/route/req', '/req'],
  ['/srv', '/rou', false, '/roureq', '/srv/roureq'],
  ['/srv', '/rou', true, '/roureq', '/srv/req'],
  ['/srv/', '/rou', true, '/rou', '/srv'],
  ['/service', '/', null, '/', '/service'],
  ['/service', '/', null, '/route', '/service/route'],
  ['/service', '/route', false, '/route/', '/service/route/'],
  ['/service', '/route', true, '/route', '/service'],
  ['/service', '/route', true, '/route/', '/service/'],
  ['/service', '/route', true, '/routereq', '/service/req'],
  ['/service', '/route/', true, '/route/', '/service/'],
  ['/service', '/route/', true, '/route/req', '/service/req'],
  ['/service/', '/', null, '/', '/service/'],
  ['/service/', '/route', true, '/route', '/service'],
  ['/service/', '/route', true, '/route/', '/service/'],
  ['/service/', '/route', false, '/route', '/service/route'],
  ['/service', '', null, '/', '/service'],
  ['/service', '', null, '/route/', '/service/route/'],
  ['/service', '/route', true, '/route./req', '/service/req'],
  ['/service', '/route', true, '/route%2E/req', '/service/req'],
  ['/service', '/route', true, '/route../req', '/service/req'],
  ['/service', '/route', false, '/route%2e%2E/req', '/service/route../req'],
  // Each row of the rule table that the examples above omit.
  [null, '/route', true, '/route', '/'],
  [null, '/route', false, '/route/x', '/route/x'],
  ['/service/', '/route', true, '/route/x', '/service/x'],
  ['/service/', '/route', true, '/routex', '/service/x'],
  ['/service', '/route', true, '/route/x', '/service/x'],
  ['/service', '/route', true, '/route.', '/service'],
  ['/service', '/route', true, '/route..', '/service'],
  ['/service', '/route', true, '/route...', '/service/...'],
  ['/service/', '/route', true, '/route../x/', '/service/x/'],
];

test('the upstream path is composed as in every worked example', () => {
  for (const [service, route, strip, request, upstream] of worked) {
    const path = normalisePath(request)!;
    for (const stripPath of strip === null ? [true, false] : [strip]) {
      const got = composeUpstreamPath(service, stripPath, route, path);
      assert.equal(got, upstream, `${service} ${route} ${stripPath} ${request}`);
    }
  }
});

const PIECES = [
  '/',
  '//',
  '.',
  '..',
  '/../',
  '/./',
  'a',
  'admin',
  '%2e',
  '%2E%2e',
  '%2f',
  '%5c',
  '%00',
  '%',
  '%zz',
  ' ',
  ';',
  '\r',
];
const MORE_PIECES = [
  '\n',
  '%0d%0a',
  '%61',
  '%c3%a9',
  '\xe9',
  '\\',
  '"',
  '%25',
  '%252e',
  '?',
  '#',
  '~',
  ':',
  '[',
  '%3F',
  '%7f',
  '{',
];

test('whatever is sent, the result is stable, below the root and free of spaces and controls', () => {
  const random = createRandom();
  const pieces = [...PIECES, ...MORE_PIECES];
  let accepted = 0;
  for (let i = 0; i < 100_000; i++) {
    let raw = random.below(10) === 0 ? '' : '/';
    for (let n = random.below(8); n > 0; n--) raw += random.pick(pieces);
    const path = normalisePath(raw);
    if (path === null) continue;
    accepted++;
    const why = `${JSON.stringify(raw)}, seed ${random.seed}`;
    assert.equal(normalisePath(path), path, why);
    assert.doesNotMatch(path, /[\x00-\x1f\x7f?#]|\/\/|\/\.\.?(?:\/|$)/, why);
    const sent = escapePath(path);
    assert.match(sent, /^\/(?:[!$&-;=@-Z[\]_a-z~]|%[0-9A-Fa-f]{2})*$/, why);
    assert.equal(escapePath(sent), sent, why);
    assert.equal(normalisePath(sent), path, `what is forwarded is what was matched: ${why}`);
    const matched = path.slice(0, random.below(path.length + 1));
    const composed = composeUpstreamPath(random.pick([null, '/', '/s', '/s/']), random.below(2) === 0, matched, path);
    assert.match(composed, /^\/(?:[!$&-;=@-Z[\]_a-z~]|%[0-9A-Fa-f]{2})*$/, why);
    assert.doesNotMatch(composed, /\/\/|\/\.\.?(?:\/|$)/, `${why}, matched ${matched}`);
  }
  assert.ok(accepted > 10_000);
});
