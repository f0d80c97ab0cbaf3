import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { HttpError } from './http-error.ts';
import { createOriginPolicy, type OriginPolicyOptions, type RequestOrigin } from './origin-policy.ts';

const open: OriginPolicyOptions = { guiOrigins: [], hosts: [], hostCheck: 'all' };

function request(change: Partial<RequestOrigin>): RequestOrigin {
  return {
    method: 'POST',
    scheme: 'http',
    origin: undefined,
    host: 'localhost:8001',
    localAddress: '127.0.0.1',
    fetchSite: undefined,
    ...change,
  };
}

/** The message of the 403, or null. */
function refusal(change: Partial<RequestOrigin>, options: Partial<OriginPolicyOptions> = {}): string | null {
  try {
    createOriginPolicy({ ...open, ...options }).check(request(change));
    return null;
  } catch (error) {
    assert.ok(error instanceof HttpError);
    assert.equal(error.status, 403);
    return error.message;
  }
}

function allowed(
  change: Partial<RequestOrigin>,
  options: Partial<OriginPolicyOptions> = {},
  token = false,
): string | null {
  return createOriginPolicy({ ...open, ...options }).allowOrigin(request(change), token);
}

test('a request without an origin, as tools send it, is accepted', () => {
  assert.equal(refusal({}), null);
  assert.equal(allowed({}), '*');
});

test('a page of the Admin API itself may read and write', () => {
  const pages: readonly Partial<RequestOrigin>[] = [
    { origin: 'http://localhost:8001' },
    { origin: 'http://gw.localhost:8001', host: 'GW.localhost:8001' },
    { origin: 'http://[::1]:8001', host: '[::1]:8001' },
    { origin: 'http://10.0.0.5', host: '10.0.0.5:80' },
    { origin: 'https://10.0.0.5:8444', host: '10.0.0.5:8444', scheme: 'https' },
  ];
  for (const page of pages) {
    assert.equal(refusal({ ...page, fetchSite: 'same-origin' }), null, page.origin);
    assert.equal(allowed(page), page.origin);
  }
});

test('a page of any other origin may neither read nor write', () => {
  const origins = [
    'http://localhost:8000',
    'http://localhost',
    'https://localhost:8001',
    'http://127.0.0.1:8001',
    'http://evil.example',
    'http://evil.example:8001',
    'http://localhost.evil.example:8001',
    'null',
    '',
  ];
  for (const origin of origins) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.match(refusal({ origin, method }) ?? '', /admin_gui_url \(SLUICEGATE_ADMIN_GUI_URL\)/, origin);
    }
    assert.equal(refusal({ origin, method: 'GET' }), null);
    assert.equal(allowed({ origin, method: 'GET' }), null);
  }
});

test('an origin without a host does not match a request without a host', () => {
  for (const host of ['', undefined]) assert.notEqual(refusal({ origin: 'null', host }), null);
});

test('a page of another site may not view events, which it could hold open', () => {
  const policy = createOriginPolicy({ ...open, guiOrigins: ['https://gui.example'] });
  const view = (change: Partial<RequestOrigin>) => () => policy.checkPage(request({ method: 'GET', ...change }));
  assert.doesNotThrow(view({}));
  assert.doesNotThrow(view({ origin: 'http://localhost:8001' }));
  assert.doesNotThrow(view({ origin: 'https://gui.example', fetchSite: 'cross-site' }));
  assert.throws(view({ origin: 'https://page.example' }), /may not view events/);
  // Without CORS a browser sends no origin, and the page may not read the answer.
  assert.throws(view({ fetchSite: 'cross-site' }), HttpError);
});

test('a form that a browser posts for another site without an origin is refused', () => {
  for (const fetchSite of ['cross-site', 'same-site']) assert.notEqual(refusal({ fetchSite }), null, fetchSite);
  for (const fetchSite of ['same-origin', 'none']) assert.equal(refusal({ fetchSite }), null, fetchSite);
  assert.equal(refusal({ fetchSite: 'cross-site', method: 'GET' }), null);
});

test('an unknown Host is refused for every method and address', () => {
  for (const localAddress of ['127.0.0.1', '10.0.0.5']) {
    for (const host of ['evil.example:8001', 'evil.example', '127.0.0.1.evil.example', 'localhost.', 'a b', 'x.y.']) {
      const message = refusal({ method: 'GET', host, localAddress });
      if (host === 'localhost.') assert.equal(message, null);
      else assert.match(message ?? '', /admin_hosts \(SLUICEGATE_ADMIN_HOSTS\)/, host);
    }
    const own = [
      'localhost:8001',
      '127.0.0.1:8001',
      '[::1]:8001',
      'a.localhost',
      '10.9.8.7:1',
      'kong:8001',
      hostname(),
    ];
    for (const host of [...own, undefined]) assert.equal(refusal({ method: 'GET', host, localAddress }), null, host);
  }
});

test('the names of admin_hosts are accepted in any case, `*.` for subdomains', () => {
  const hosts = ['gw.example', '*.internal.example'];
  for (const host of ['gw.example:8001', 'GW.example', 'a.internal.example', 'a.b.internal.example.']) {
    assert.equal(refusal({ host }, { hosts }), null, host);
  }
  for (const host of ['a.gw.example', 'internal.example', 'evilinternal.example', 'gw.example.evil.example']) {
    assert.notEqual(refusal({ host }, { hosts }), null, host);
  }
});

test('the status API is reached by any name, except on loopback', () => {
  assert.equal(refusal({ host: 'gw.example', localAddress: '10.0.0.5' }, { hostCheck: 'loopback' }), null);
  assert.notEqual(refusal({ host: 'gw.example', localAddress: '::1' }, { hostCheck: 'loopback' }), null);
});

test('the page of any origin may read the answer to a request with a token, which a foreign page does not have', () => {
  const foreign = { origin: 'http://evil.example', host: 'evil.example' };
  assert.equal(allowed(foreign, {}, true), 'http://evil.example');
  assert.equal(allowed(foreign, { guiOrigins: ['https://a.example'] }, true), 'https://a.example');
});

test('the origins of admin_gui_url may read and write; others are answered with the first of them', () => {
  const guiOrigins = ['https://a.example', 'https://b.example'];
  const fetchSite = 'cross-site';
  assert.equal(refusal({ origin: 'https://b.example', fetchSite }, { guiOrigins }), null);
  assert.equal(refusal({ origin: 'http://localhost:8001' }, { guiOrigins }), null);
  assert.notEqual(refusal({ origin: 'https://b.example:8443', fetchSite }, { guiOrigins }), null);
  assert.equal(allowed({ origin: 'https://b.example' }, { guiOrigins }), 'https://b.example');
  assert.equal(allowed({ origin: 'https://c.example' }, { guiOrigins }), 'https://a.example');
  assert.equal(allowed({}, { guiOrigins }), 'https://a.example');
});
