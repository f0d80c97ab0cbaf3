import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { authorization, dateIn, digestOf, type Signing } from './sign.fixture.ts';

const settings = { plugins: ['hmac-auth'] };

interface Sent extends Signing {
  readonly body?: string;
  readonly more?: string;
}

function requestText({ body = '', more = '', ...signing }: Sent): string {
  const headers = { date: dateIn(0), ...signing.headers };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const { method = 'GET', target = '/' } = signing;
  const signature = `Authorization: ${authorization({ ...signing, headers })}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: a\r\n${lines.join('')}${length}${signature}${more}\r\n${body}`;
}

describe('signed requests through a gateway', () => {
  let rig: Rig;
  const status = async (sent: Sent): Promise<number> => (await exchangeOne(rig.port, requestText(sent))).status;
  before(async () => {
    rig = await startRig({ settings });
    await rig.write('PUT', '/consumers/alice', {});
    await rig.write('PUT', '/consumers/bob', {});
    await rig.write('POST', '/consumers/alice/hmac-auth', { username: 'alice', secret: 'alices-secret' });
    await rig.write('POST', '/routes/all/plugins', { name: 'hmac-auth', config: { validate_request_body: true } });
  });
  after(() => rig.close());

  it('reach the backend with the consumer and the unchanged path and query', async () => {
    for (const target of ['/', '/a%20b/../c?x=%2F&y', '//twice/?a']) {
      assert.equal(await status({ target, more: 'X-Consumer-Username: admin\r\n' }), 200, target);
      const request = rig.backend.requests.at(-1);
      assert.deepEqual(request?.all('x-consumer-username'), ['alice']);
      assert.deepEqual(request?.all('x-credential-identifier'), ['alice']);
    }
  });

  it('are refused with another secret, and do not reach the backend', async () => {
    const before = rig.backend.requests.length;
    const response = await exchangeOne(rig.port, requestText({ secret: 'another' }));
    assert.equal(response.status, 401);
    assert.equal(response.get('www-authenticate'), 'hmac');
    assert.equal(JSON.parse(response.body).message, 'HMAC signature does not match');
    assert.equal(rig.backend.requests.length, before);
  });

  it('reach the backend with the signed body', async () => {
    const names = ['date', 'request-line', 'digest'];
    const signing = { method: 'POST', names, headers: { digest: digestOf('the body') } };
    assert.equal(await status({ ...signing, body: 'the body' }), 200);
    assert.equal(rig.backend.requests.at(-1)?.body, 'the body');
    assert.equal(await status({ ...signing, body: 'the bodY' }), 401);
    assert.equal(await status({ method: 'POST', body: 'the body' }), 401);
  });

  it('are checked against a changed credential at once', async () => {
    const made = await rig.write('POST', '/consumers/bob/hmac-auth', { username: 'bob' });
    const secret = String(made['secret']);
    assert.match(secret, /^[A-Za-z0-9]{32}$/);
    assert.equal(await status({ username: 'bob', secret }), 200);
    const changed = await rig.write('PATCH', '/consumers/bob/hmac-auth/bob', { secret: 'a-new-one' });
    assert.equal(changed['secret'], 'a-new-one');
    assert.equal(await status({ username: 'bob', secret }), 401);
    assert.equal(await status({ username: 'bob', secret: 'a-new-one' }), 200);
    await rig.write('DELETE', `/hmac-auths/${made['id']}`);
    assert.equal(await status({ username: 'bob', secret: 'a-new-one' }), 401);
  });

  it('need a unique user name', async () => {
    const twice = await rig.gateway.admin('POST', '/consumers/bob/hmac-auth', { username: 'alice' });
    assert.equal(twice.status, 409);
    const without = await rig.gateway.admin('POST', '/consumers/bob/hmac-auth', {});
    assert.deepEqual([without.status, without.body['fields']], [400, { username: 'required field missing' }]);
  });
});
