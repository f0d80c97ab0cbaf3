import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { skipWithoutSlapd, startSlapd, type TestSlapd } from '../../../test/support/slapd.ts';
import { until } from '../../../test/support/until.ts';

function credentials(user: string, password: string): string {
  return `ldap ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

describe('ldap-auth in a gateway', { skip: skipWithoutSlapd() }, () => {
  let gateway: TestGateway;
  let backend: TestBackend;
  let slapd: TestSlapd;

  async function get(user: string, password: string) {
    const response = await fetch(`${gateway.proxyUrl}/wiki`, {
      headers: { Authorization: credentials(user, password) },
    });
    return { response, body: await response.text() };
  }

  before(async () => {
    slapd = await startSlapd({ users: { ada: 'lovelace', Zoë: 'ünï' } });
    backend = await startBackend();
    gateway = await startTestGateway();
    for (const [path, body] of [
      ['/services/wiki', { url: backend.url }],
      ['/services/wiki/routes/wiki', { paths: ['/wiki'] }],
      [
        '/services/wiki/plugins/77777777-7777-4777-8777-777777777777',
        {
          name: 'ldap-auth',
          config: {
            ldap_host: slapd.host,
            ldap_port: slapd.port,
            base_dn: slapd.base,
            attribute: 'uid',
            hide_credentials: true,
            timeout: 1000,
          },
        },
      ],
    ] as const) {
      const { status, body: answer } = await gateway.admin('PUT', path, body);
      assert.equal(status, 200, JSON.stringify(answer));
    }
  });
  after(async () => {
    await gateway.stop();
    await backend.close();
    await slapd.stop();
  });

  it('accepts users of the directory, and forwards their identity', async () => {
    const { response, body } = await get('ada', 'lovelace');
    assert.equal(response.status, 200);
    const { headers } = JSON.parse(body);
    assert.equal(headers['x-credential-identifier'], 'ada');
    assert.equal(headers['authorization'], undefined);
    const zoe = JSON.parse((await get('Zoë', 'ünï')).body);
    assert.equal(Buffer.from(zoe.headers['x-credential-identifier'], 'latin1').toString(), 'Zoë');
  });

  it('refuses all other users', async () => {
    for (const [user, password] of [
      ['ada', 'x'],
      ['ada', ''],
      ['eve', 'lovelace'],
    ] as const) {
      const { response, body } = await get(user, password);
      assert.equal(response.status, 401);
      assert.equal(response.headers.get('www-authenticate'), 'LDAP');
      assert.equal(JSON.parse(body).message, 'Unauthorized');
    }
    assert.equal((await fetch(`${gateway.proxyUrl}/wiki`)).status, 401);
  });

  it('answers 503 while the directory is unavailable, except for cached logins, and logs it', async () => {
    await slapd.kill();
    assert.equal((await get('ada', 'lovelace')).response.status, 200);
    const { response, body } = await get('ada', 'secret-guess');
    assert.equal(response.status, 503);
    assert.equal(JSON.parse(body).message, 'Service temporarily unavailable');
    await until(async () => {
      const status = (await (await fetch(`${gateway.statusUrl}/status`)).json()) as Record<string, unknown>;
      return JSON.stringify(status).includes('"ldap_failures":1');
    });
    const log = readFileSync(join(gateway.prefix, 'error.log'), 'utf8');
    assert.match(log, /the LDAP server is unavailable/);
    assert.doesNotMatch(log, /secret-guess|lovelace/);
    assert.ok(!log.includes(credentials('ada', 'secret-guess').slice(5)));
    await slapd.restart();
    assert.equal((await get('ada', 'secret-guess')).response.status, 401);
  });
});
