import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Rig, startRig } from '../../../test/support/rig.ts';

const impersonate = fileURLToPath(new URL('../../../test/support/plugins/impersonate.ts', import.meta.url));

describe('rules', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['acl', 'authorization', impersonate] } });
    for (const username of ['ada', 'bob']) await rig.write('PUT', `/consumers/${username}`, {});
    await rig.write('PUT', '/consumers/ada/acls/editors', {});
    await rig.write('POST', '/plugins', { name: 'impersonate' });
  });
  after(() => rig.close());

  async function statusOf(consumer: string, method: string, path: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${rig.port}${path}`, { method, headers: { As: consumer } });
    await answer.text();
    return answer.status;
  }

  it('can be sent as a form, and apply at once', async () => {
    const form = [
      'name=authorization',
      'config.rules[1].name=editors',
      'config.rules[1].groups=editors',
      'config.rules[1].paths[]=/articles',
      'config.rules[1].paths[]=~/drafts/[0-9]%2B$',
      'config.rules[1].methods[1]=PUT',
      'config.rules[1].methods[2]=DELETE',
      'config.rules[2].name=readers',
      'config.rules[2].methods[]=GET',
      'config.rules[2].claims.level=3',
      'config.rules[3].name=everybody',
      'config.rules[3].effect=allow',
      'config.rules[3].methods=GET',
    ].join('&');
    const made = await rig.write('POST', '/services/backend/plugins', form);
    const { rules } = made['config'] as { rules: readonly Record<string, unknown>[] };
    assert.deepEqual(rules[0]?.['paths'], ['/articles', '~/drafts/[0-9]+$']);
    assert.deepEqual(rules[1]?.['claims'], { level: ['3'] });
    assert.equal(await statusOf('ada', 'PUT', '/articles/1'), 200);
    assert.equal(await statusOf('ada', 'PUT', '/drafts/12'), 200);
    assert.equal(await statusOf('ada', 'PUT', '/drafts/x'), 403);
    assert.equal(await statusOf('bob', 'PUT', '/articles/1'), 403);
    assert.equal(await statusOf('bob', 'GET', '/articles/1'), 200);
    await rig.write('PUT', '/consumers/bob/acls/editors', {});
    assert.equal(await statusOf('bob', 'PUT', '/articles/1'), 200);
    await rig.write('PATCH', `/plugins/${made['id']}`, { config: { rules: [{ name: 'none', effect: 'deny' }] } });
    assert.equal(await statusOf('ada', 'GET', '/articles/1'), 403);
  });

  it('are refused with place and reason when invalid', async () => {
    const answer = await rig.gateway.admin('POST', '/plugins', {
      name: 'authorization',
      config: { rules: [{ name: 'a' }, { name: 'b', paths: ['articles'] }] },
    });
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer.body['fields']), /should start with '\/', '=\/' or '~'/);
  });
});

describe('rules over the scopes of tokens', () => {
  let rig: Rig;
  const tokens = { read: '', write: '' };
  before(async () => {
    rig = await startRig({ settings: { plugins: ['authorization', 'oauth2'] } });
    await rig.write('PUT', '/consumers/ada', {});
    await rig.write('POST', '/consumers/ada/oauth2', {
      name: 'app',
      client_id: 'app',
      redirect_uris: ['https://a.test/'],
    });
    for (const scope of ['read', 'write'] as const) {
      const made = await rig.write('POST', '/oauth2/app/oauth2_tokens', { expires_in: 600, scope });
      tokens[scope] = String(made['access_token']);
    }
    await rig.write('POST', '/services/backend/plugins', {
      name: 'oauth2',
      config: { enable_client_credentials: true, global_credentials: true, anonymous: 'ada' },
    });
    await rig.write('POST', '/services/backend/plugins', {
      name: 'authorization',
      config: {
        rules: [
          { name: 'reading', scopes: ['read', 'write'], methods: ['GET'] },
          { name: 'writing', scopes: ['write'] },
        ],
      },
    });
  });
  after(() => rig.close());

  it('accept requests within the scope of the token, and require a token', async () => {
    const status = async (method: string, token: string | null): Promise<number> => {
      const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
      const answer = await fetch(`http://127.0.0.1:${rig.port}/`, { method, headers });
      await answer.text();
      return answer.status;
    };
    assert.equal(await status('GET', tokens.read), 200);
    assert.equal(await status('PUT', tokens.read), 403);
    assert.equal(await status('PUT', tokens.write), 200);
    assert.equal(await status('GET', null), 401);
  });
});
