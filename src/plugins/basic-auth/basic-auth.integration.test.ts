import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

const desOfPw = 'abzlUXK5ed5rs';
const bcryptOfPw = '$2y$05$abcdefghijklmnopqrstuuHIrMEWpUCQe2YqFR3sXwQ75u4od..9q';

describe('basic-auth through a gateway', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['basic-auth'] } });
    await rig.write('PUT', '/consumers/alice', {});
    await rig.write('POST', '/routes/all/plugins', { name: 'basic-auth' });
  });
  after(() => rig.close());

  async function statusOf(user: string, password: string, path = '/'): Promise<number> {
    const token = Buffer.from(`${user}:${password}`).toString('base64');
    const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Basic ${token}\r\n\r\n`;
    return (await exchangeOne(rig.port, request)).status;
  }

  it('stores and shows a password only as a hash, and accepts it', async () => {
    const made = await rig.write('POST', '/consumers/alice/basic-auth', { username: 'al', password: 'secret' });
    assert.match(String(made['password']), /^\$scrypt\$/);
    assert.equal(await statusOf('al', 'secret'), 200);
    const request = rig.backend.requests.at(-1);
    assert.deepEqual([request?.get('x-consumer-username'), request?.get('x-credential-identifier')], ['alice', 'al']);
    assert.deepEqual([await statusOf('al', 'Secret'), await statusOf('al', String(made['password']))], [401, 401]);
  });

  it('keeps the password when a credential is written back as read', async () => {
    const { body } = await rig.gateway.admin('GET', '/basic-auths/al');
    await rig.write('PATCH', '/basic-auths/al', { tags: ['x'] });
    await rig.write('PATCH', '/basic-auths/al', { password: body['password'] });
    await rig.write('PUT', `/basic-auths/${body['id']}`, body);
    assert.equal(await statusOf('al', 'secret'), 200);
    assert.equal((await rig.gateway.admin('GET', '/basic-auths/al')).body['password'], body['password']);
  });

  it('accepts a new password and refuses the old one as soon as the Admin API has answered', async () => {
    assert.equal(await statusOf('al', 'secret'), 200);
    await rig.write('PATCH', '/basic-auths/al', { password: 'other' });
    assert.deepEqual([await statusOf('al', 'secret'), await statusOf('al', 'other')], [401, 200]);
    await rig.write('DELETE', '/basic-auths/al');
    assert.equal(await statusOf('al', 'other'), 401);
  });

  it('accepts existing hashes, and keeps usernames unique', async () => {
    await rig.write('POST', '/consumers/alice/basic-auth', { username: 'imported', password: bcryptOfPw });
    assert.equal(await statusOf('imported', 'pw'), 200);
    const again = await rig.gateway.admin('POST', '/consumers/alice/basic-auth', {
      username: 'imported',
      password: 'x',
    });
    assert.equal(again.status, 409);
    // Text in the form of a traditional crypt(3) hash is a password.
    await rig.write('POST', '/consumers/alice/basic-auth', { username: 'thirteen', password: desOfPw });
    assert.deepEqual([await statusOf('thirteen', desOfPw), await statusOf('thirteen', 'pw')], [200, 401]);
  });

  it('follows changes of a credentials file', async () => {
    const path = join(rig.gateway.prefix, 'users');
    await writeFile(path, `first:${bcryptOfPw}\n`);
    await rig.write('PUT', '/services/backend/routes/file', { paths: ['/file'], strip_path: false });
    await rig.write('POST', '/routes/file/plugins', { name: 'basic-auth', config: { credentials_file: path } });
    assert.deepEqual([await statusOf('first', 'pw', '/file'), await statusOf('first', 'x', '/file')], [200, 401]);
    assert.equal(rig.backend.requests.at(-1)?.get('x-credential-identifier'), 'first');
    await writeFile(`${path}.new`, `second:${bcryptOfPw}\n`);
    await rename(`${path}.new`, path);
    const deadline = Date.now() + 10_000;
    while ((await statusOf('second', 'pw', '/file')) !== 200) assert.ok(Date.now() < deadline, 'it is not read again');
    assert.equal(await statusOf('first', 'pw', '/file'), 401);
  });
});
