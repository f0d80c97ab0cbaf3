import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from './http-error.ts';
import { createOriginPolicy, type RequestOrigin } from './origin-policy.ts';

const open = createOriginPolicy({ guiOrigins: [], tokenRequired: false });

function request(change: Partial<RequestOrigin>): RequestOrigin {
  return { method: 'POST', origin: undefined, host: 'localhost:8001', localAddress: '127.0.0.1', ...change };
}

function isRefused(change: Partial<RequestOrigin>): boolean {
  try {
    open.check(request(change));
    return false;
  } catch (error) {
    assert.ok(error instanceof HttpError);
    assert.equal(error.status, 403);
    return true;
  }
}

test('a request without an origin, as every tool sends it, is let through', () => {
  assert.equal(isRefused({}), false);
  assert.equal(open.allowOrigin(request({})), '*');
});

test('pages of this machine and of the same host may do everything', () => {
  const origins = ['http://localhost:8002', 'http://127.0.0.1:8002', 'http://[::1]:8002', 'https://ui.localhost'];
  for (const origin of origins) {
    assert.equal(isRefused({ origin }), false, origin);
    assert.equal(open.allowOrigin(request({ origin })), origin);
  }
  const same = { origin: 'http://gw.example:8002', host: 'gw.example:8001', localAddress: '10.0.0.5' };
  assert.equal(isRefused(same), false);
  assert.equal(open.allowOrigin(request(same)), same.origin);
});

test('a page of a foreign origin may neither change nor read anything', () => {
  for (const origin of [
    'http://evil.example',
    'null',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
  ]) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) assert.equal(isRefused({ origin, method }), true, origin);
    assert.equal(isRefused({ origin, method: 'GET' }), false);
    assert.equal(open.allowOrigin(request({ origin, method: 'GET' })), null);
  }
});

test('a name that was made to resolve to loopback gets nothing, not even a GET', () => {
  for (const host of ['evil.example:8001', 'evil.example', '127.0.0.1.evil.example', 'a b']) {
    assert.equal(isRefused({ method: 'GET', host }), true, host);
  }
  for (const host of [
    'localhost:8001',
    '127.0.0.1:8001',
    '[::1]:8001',
    'admin.localhost',
    '10.0.0.5:8001',
    undefined,
  ]) {
    assert.equal(isRefused({ method: 'GET', host }), false, host);
  }
  assert.equal(isRefused({ method: 'GET', host: 'kong:8001', localAddress: '172.17.0.2' }), false);
});

test('with a token every origin and host is fine, because a foreign page has no token', () => {
  const guarded = createOriginPolicy({ guiOrigins: [], tokenRequired: true });
  const foreign = request({ origin: 'http://evil.example', host: 'evil.example' });
  guarded.check(foreign);
  assert.equal(guarded.allowOrigin(foreign), 'http://evil.example');
});

test('configured origins are allowed; others are answered with the first of them', () => {
  const guarded = createOriginPolicy({ guiOrigins: ['https://a.example', 'https://b.example'], tokenRequired: false });
  guarded.check(request({ origin: 'https://b.example' }));
  assert.equal(guarded.allowOrigin(request({ origin: 'https://b.example' })), 'https://b.example');
  assert.equal(guarded.allowOrigin(request({ origin: 'https://c.example' })), 'https://a.example');
  assert.equal(guarded.allowOrigin(request({})), 'https://a.example');
});
