import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Case 50: what a web page can make a browser send to the Admin API. */
describe('a browser at the Admin API', () => {
  const manager = 'https://manager.example:8445';
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      env: { KONG_ADMIN_GUI_URL: `${manager}/ui`, SLUICEGATE_ADMIN_HOSTS: 'gw.example' },
    });
  });
  after(() => gateway.stop());

  async function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body = '',
    base = gateway.adminUrl,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number;
      headers: NodeJS.Dict<unknown>;
      text: string;
    }>();
    const sent = request(base + path, { method, headers }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.on('error', reject);
    sent.end(body);
    return await promise;
  }

  it('cannot post a form from a page that the proxy serves', async () => {
    for (const origin of [gateway.proxyUrl, `http://localhost:${gateway.proxyPort}`, 'http://localhost']) {
      const answer = await send('POST', '/services', { ...form, origin }, 'host=evil.example');
      assert.equal(answer.status, 403, origin);
      assert.match(answer.text, /SLUICEGATE_ADMIN_GUI_URL/);
    }
  });

  it('cannot post a form from another site by omitting the origin', async () => {
    const answer = await send('POST', '/services', { ...form, 'sec-fetch-site': 'cross-site' }, 'host=evil.example');
    assert.equal(answer.status, 403);
  });

  it('cannot delete from another page, and its preflight is refused', async () => {
    const origin = 'http://evil.example';
    assert.equal((await send('DELETE', '/services/a', { origin })).status, 403);
    const preflight = await send('OPTIONS', '/services/a', { origin, 'access-control-request-method': 'DELETE' });
    assert.equal(preflight.status, 204);
    assert.notEqual(preflight.headers['access-control-allow-origin'], origin);
  });

  it('cannot read by DNS rebinding', async () => {
    for (const path of ['/services', '/audit', '/analytics/usage', '/openapi.json', '/']) {
      const answer = await send('GET', path, { host: 'rebound.example' });
      assert.equal(answer.status, 403, path);
      assert.match(answer.text, /SLUICEGATE_ADMIN_HOSTS/);
    }
    assert.equal((await send('GET', '/status', { host: 'rebound.example' }, '', gateway.statusUrl)).status, 403);
    assert.equal((await send('GET', '/services', { host: 'gw.example:8001' })).status, 200);
  });

  it('can read and write from pages of admin_gui_url and of the Admin API', async () => {
    for (const origin of [manager, gateway.adminUrl]) {
      const answer = await send(
        'POST',
        '/services',
        { ...form, origin, 'sec-fetch-site': 'cross-site' },
        'host=a.example',
      );
      assert.equal(answer.status, 201, answer.text);
    }
    const preflight = await send('OPTIONS', '/services', { origin: manager, 'access-control-request-method': 'PUT' });
    assert.equal(preflight.headers['access-control-allow-origin'], manager);
    assert.match(String(preflight.headers['access-control-allow-methods']), /POST/);
  });

  // The last one: from here on requests must sign in.
  it('reaches nothing without a token once there are admin users', async () => {
    const headers = { 'content-type': 'application/json' };
    const foreign = { ...headers, origin: 'http://evil.example' };
    const first = JSON.stringify({ name: 'ada', role: 'admin' });
    assert.equal(
      (await send('POST', '/admin-users', foreign, first)).status,
      403,
      'a page cannot create the first user',
    );
    const created = await send('POST', '/admin-users', headers, first);
    assert.equal(created.status, 201, created.text);
    const { token } = JSON.parse(created.text) as { token: string };
    for (const origin of ['http://evil.example', manager, gateway.adminUrl]) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        assert.equal((await send(method, '/services', { origin }, '')).status, 401, `${method} ${origin}`);
      }
    }
    assert.equal((await send('GET', '/services', { host: 'rebound.example' })).status, 401);
    for (const name of ['authorization', 'kong-admin-token']) {
      const asked = { 'access-control-request-method': 'PUT', 'access-control-request-headers': name };
      const preflight = await send('OPTIONS', '/services/a', { origin: manager, ...asked });
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers['access-control-allow-origin'], manager);
      assert.equal(preflight.headers['access-control-allow-headers'], name);
      const value = name === 'authorization' ? `Bearer ${token}` : token;
      const read = await send('GET', '/services', { origin: manager, 'sec-fetch-site': 'cross-site', [name]: value });
      assert.equal(read.status, 200);
      assert.equal(read.headers['access-control-allow-origin'], manager);
      const other = await send('GET', '/services', { origin: 'http://evil.example', [name]: value });
      assert.equal(
        other.headers['access-control-allow-origin'],
        manager,
        'the browser hides the answer from that page',
      );
    }
  });
});
