import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

describe('keys or tokens', () => {
  let rig: Rig;
  let token = '';
  before(async () => {
    rig = await startRig({ settings: { trustedIps: ['127.0.0.1'], plugins: ['auth-any', 'key-auth', 'oauth2'] } });
    for (const username of ['ada', 'bob']) await rig.write('PUT', `/consumers/${username}`, {});
    await rig.write('POST', '/consumers/ada/key-auth', { key: 'key-of-ada' });
    await rig.write('POST', '/consumers/bob/oauth2', {
      name: 'app',
      client_id: 'app',
      client_secret: 'client-secret',
      redirect_uris: ['https://app.example/'],
    });
    const config = { enable_client_credentials: true, accept_http_if_already_terminated: true };
    for (const plugin of [
      { name: 'key-auth', config: { hide_credentials: true } },
      { name: 'oauth2', config },
      { name: 'auth-any', config: { methods: ['oauth2', 'key-auth'] } },
    ]) {
      await rig.write('POST', '/services/backend/plugins', plugin);
    }
  });
  after(() => rig.close());

  const get = (lines: string) => exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\n${lines}\r\n`);

  it('include the token endpoint of a method', async () => {
    const body = 'grant_type=client_credentials&client_id=app&client_secret=client-secret';
    const answer = await exchangeOne(
      rig.port,
      `POST /oauth2/token HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\nContent-Length: ${body.length}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\n\r\n${body}`,
      'POST',
    );
    assert.equal(answer.status, 200);
    ({ access_token: token } = JSON.parse(answer.body) as { access_token: string });
    assert.equal(rig.backend.requests.length, 0);
  });

  it('are each sufficient', async () => {
    assert.equal((await get('apikey: key-of-ada\r\n')).status, 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-consumer-username'), 'ada');
    assert.equal((await get(`Authorization: Bearer ${token}\r\n`)).status, 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-consumer-username'), 'bob');
    assert.equal(rig.backend.requests.at(-1)?.get('x-credential-identifier'), 'app');
  });

  it('hide a key sent together with a token from the backend', async () => {
    const lines = `Authorization: Bearer ${token}\r\napikey: key-of-ada\r\n`;
    assert.equal((await get(lines)).status, 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-consumer-username'), 'bob');
    assert.doesNotMatch(rig.backend.requests.at(-1)?.raw ?? '', /key-of-ada/);
  });

  it('accept a valid one sent together with an invalid one', async () => {
    assert.equal((await get('Authorization: Bearer wrong\r\napikey: key-of-ada\r\n')).status, 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-consumer-username'), 'ada');
  });

  it('give one refusal with all challenges when none is valid', async () => {
    const seen = rig.backend.requests.length;
    for (const lines of ['', 'apikey: wrong\r\n', 'Authorization: Bearer wrong\r\n']) {
      const answer = await get(lines);
      assert.equal(answer.status, 401);
      assert.equal(answer.all('www-authenticate').length, 2);
      assert.match(answer.all('www-authenticate')[0] ?? '', /^Bearer/);
      assert.match(answer.all('www-authenticate')[1] ?? '', /^Key/);
      assert.match(answer.body, /"message":"Unauthorized"/);
    }
    assert.equal(rig.backend.requests.length, seen);
  });

  it('cannot be configured with methods that do not exist', async () => {
    const answer = await rig.gateway.admin('POST', '/plugins', {
      name: 'auth-any',
      config: { methods: ['key-auth', 'magic'] },
    });
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer.body['fields']), /expected one of/);
  });

  it('accept no unauthenticated request when a method is disabled', async () => {
    const listed = (await rig.write('GET', '/services/backend/plugins'))['data'] as { id: string; name: string }[];
    for (const { id, name } of listed) {
      if (name !== 'auth-any') await rig.write('PATCH', `/plugins/${id}`, { enabled: false });
    }
    assert.equal((await get('apikey: key-of-ada\r\n')).status, 500);
  });
});
