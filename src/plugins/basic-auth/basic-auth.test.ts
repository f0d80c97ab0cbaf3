import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { type PluginTest, testPlugin } from '../../plugin-testing/index.ts';
import basicAuth from './index.ts';
import { scryptHash } from './scrypt-hash.ts';

const alice = { id: '7f6b8c1e-0000-4000-8000-0000000000a1', username: 'alice', custom_id: null, tags: [] };
const guest = { id: '7f6b8c1e-0000-4000-8000-0000000000a2', username: 'guest', custom_id: null, tags: [] };
const credentialId = '7f6b8c1e-0000-4000-8000-0000000000b1';

function login(user: string, password: string, scheme = 'Basic'): Record<string, string> {
  return { Authorization: `${scheme} ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

/** Test plugins with threads, to stop at the end. */
const running: PluginTest[] = [];
function started(config: Readonly<Record<string, unknown>>, more: object = {}): PluginTest {
  const test = testPlugin(basicAuth, { config, ...more });
  running.push(test);
  return test;
}
after(async () => {
  for (const test of running) await test.dispose();
});

describe('the configuration of basic-auth', () => {
  it('has the defaults of Kong', async () => {
    const checked = await testPlugin(basicAuth).check({});
    assert.ok(checked.ok);
    const { anonymous, hide_credentials, realm } = checked.config;
    assert.deepEqual(
      { anonymous, hide_credentials, realm },
      { anonymous: null, hide_credentials: false, realm: 'service' },
    );
  });
});

for (const slowEntities of [false, true]) {
  describe(`logins of consumers, ${slowEntities ? 'looked up in the store' : 'cached'}`, () => {
    let test: PluginTest;
    const start = async (config = {}) =>
      started(config, {
        slowEntities,
        entities: {
          consumers: [alice, guest],
          basicauth_credentials: [
            { id: credentialId, consumer: { id: alice.id }, username: 'al', password: await scryptHash('päss:word') },
            // sha1('secret' + the id of alice), as Kong has it.
            {
              consumer: { id: alice.id },
              username: 'kong',
              password: '$kong-sha1$84923d07571b40cbba6a0a90271dc566f22efb78',
            },
            { consumer: { id: alice.id }, username: 'broken', password: 'not a hash' },
            {
              consumer: { id: '7f6b8c1e-0000-4000-8000-0000000000ff' },
              username: 'orphan',
              password: '$kong-sha1$84923d07571b40cbba6a0a90271dc566f22efb78',
            },
          ],
        },
      });
    before(async () => {
      test = await start();
    });

    it('name the consumer and the user to the backend', async () => {
      for (const scheme of ['Basic', 'basic']) {
        const { upstream, response } = await test.request({ headers: login('al', 'päss:word', scheme) });
        assert.equal(response.status, 200);
        assert.equal(upstream?.header('x-consumer-id'), alice.id);
        assert.equal(upstream?.header('x-consumer-username'), 'alice');
        assert.equal(upstream?.header('x-credential-identifier'), 'al');
      }
    });
    it('are accepted with a hash of Kong', async () => {
      assert.equal((await test.request({ headers: login('kong', 'secret') })).response.status, 200);
      assert.equal(
        (await test.request({ headers: login('kong', '84923d07571b40cbba6a0a90271dc566f22efb78') })).response.status,
        401,
      );
    });
    it('get the same answer for every kind of error', async () => {
      const wrong: Record<string, string>[] = [
        {},
        login('al', 'wrong'),
        login('al', ''),
        login('', 'päss:word'),
        login('AL', 'päss:word'),
        login('nobody', 'päss:word'),
        login('broken', 'not a hash'),
        login('orphan', 'secret'),
        login('al', 'päss:word', 'BASIC'),
        login('al', 'päss:word', 'Bearer'),
        login('al\n', 'päss:word'),
        login('al', 'päss:word\0'),
        login('al', 'x'.repeat(1025)),
        { Authorization: 'Basic' },
        { Authorization: 'Basic !!!!' },
        { Authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
        { Authorization: `Basic ${Buffer.from('al:p\xe4ss:word', 'latin1').toString('base64')}` },
      ];
      const bodies = new Set<string>();
      for (const headers of wrong) {
        const { response, upstream } = await test.request({ headers });
        assert.equal(upstream, null);
        assert.equal(response.status, 401, JSON.stringify(headers));
        assert.equal(response.header('www-authenticate'), 'Basic realm="service"');
        bodies.add(response.body.replace(/[0-9a-f]{32}/, ''));
      }
      assert.equal(bodies.size, 1);
      assert.match([...bodies][0] ?? '', /"message":\s*"Unauthorized"/);
    });
    it('are read from Proxy-Authorization first', async () => {
      const { Authorization: right = '' } = login('al', 'päss:word');
      const { Authorization: wrong = '' } = login('al', 'wrong');
      const statuses = [
        { 'Proxy-Authorization': right },
        { 'Proxy-Authorization': right, Authorization: wrong },
        { 'Proxy-Authorization': 'Bearer x', Authorization: right },
        { 'Proxy-Authorization': wrong, Authorization: right },
        { Authorization: [right, right] },
      ].map(async (headers) => (await test.request({ headers })).response.status);
      assert.deepEqual(await Promise.all(statuses), [200, 200, 200, 401, 401]);
    });
    it('are refused as soon as the password changes or the credential is deleted', async () => {
      const own = await start();
      const request = { headers: login('al', 'päss:word') };
      assert.equal((await own.request(request)).response.status, 200);
      await own.entities.update('basicauth_credentials', credentialId, { password: await scryptHash('new') });
      assert.equal((await own.request(request)).response.status, 401);
      assert.equal((await own.request({ headers: login('al', 'new') })).response.status, 200);
      await own.entities.delete('basicauth_credentials', credentialId);
      assert.equal((await own.request({ headers: login('al', 'new') })).response.status, 401);
    });
    it('are hidden from the backend, unlike other credentials', async () => {
      const own = await start({ hide_credentials: true, anonymous: 'guest' });
      const both = { ...login('al', 'päss:word'), 'Proxy-Authorization': 'Bearer token' };
      const { upstream } = await own.request({ headers: both });
      assert.equal(upstream?.header('authorization'), null);
      assert.equal(
        (await own.request({ headers: { Authorization: 'Bearer x' } })).upstream?.header('authorization'),
        'Bearer x',
      );
      assert.equal((await own.request({ headers: login('al', 'wrong') })).upstream?.header('authorization'), null);
    });
    it('continue as the anonymous consumer when they fail', async () => {
      const own = await start({ anonymous: 'guest' });
      const { upstream } = await own.request({ headers: login('al', 'wrong') });
      assert.equal(upstream?.header('x-consumer-username'), 'guest');
      assert.equal(upstream?.header('x-anonymous-consumer'), 'true');
      assert.equal(upstream?.header('x-credential-identifier'), null);
    });
  });
}

describe('verified passwords', () => {
  it('are cached: 50 logins cost one check', async () => {
    const test = started(
      {},
      {
        entities: {
          consumers: [alice],
          basicauth_credentials: [{ consumer: { id: alice.id }, username: 'al', password: await scryptHash('secret') }],
        },
      },
    );
    await test.request({ headers: login('al', 'secret') });
    for (const [password, status] of [
      ['secret', 200],
      ['wrong', 401],
    ] as const) {
      await test.request({ headers: login('al', password) });
      const begin = process.cpuUsage();
      for (let count = 0; count < 50; count++) {
        assert.equal((await test.request({ headers: login('al', password) })).response.status, status);
      }
      // Without the cache each takes about 40 ms, in another thread. The clock would count other programs, too.
      const { user, system } = process.cpuUsage(begin);
      assert.ok(user + system < 700_000, `${user + system} µs`);
    }
  });
});

describe('the duration of a failed login', () => {
  it('is that of a password check, whether the user exists or not', async () => {
    const test = started(
      {},
      {
        entities: {
          consumers: [alice],
          basicauth_credentials: [
            { consumer: { id: alice.id }, username: 'slow', password: await scryptHash('secret') },
            { consumer: { id: alice.id }, username: 'quick', password: `$kong-sha1$${'0'.repeat(40)}` },
          ],
        },
      },
    );
    await test.request({ headers: login('slow', 'starts the thread') });
    for (const user of ['slow', 'quick', 'nobody']) {
      const begin = performance.now();
      await test.request({ headers: login(user, 'wrong') });
      // scrypt takes at least 15 ms on any machine; everything else takes less than 1 ms.
      assert.ok(performance.now() - begin > 8, user);
    }
  });
});

describe('a credentials file', () => {
  let folder: string;
  let path: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'basic-auth-'));
    path = join(folder, 'htpasswd');
  });
  after(() => rm(folder, { recursive: true }));

  const hashes = [
    ['bcrypt', '$2y$05$abcdefghijklmnopqrstuuHIrMEWpUCQe2YqFR3sXwQ75u4od..9q'],
    ['apr1', '$apr1$Sa1tSa1t$Zz2xaSe.M0D9UA/sxF8jW0'],
    ['md5', '$1$Sa1tSa1t$V3eOO04EJA1QCMOOvnuzl1'],
    ['sha256', '$5$Sa1tSa1t$56hN770Yke8Ew8ZefDe89kLyUHkbDMPK8M77inzoyC6'],
    ['sha512', '$6$Sa1tSa1t$0laWbSwV4IfJMeQ78ItkSmc5r8v3IheWsMNLVYsc1ercSM4UG9q/ZH9DoNhDURkepX8yLX/jadVKKETTinHwe/'],
    ['des', 'abzlUXK5ed5rs'],
    ['sha', '{SHA}GpHWL3ymc5liWkNopqtdSjuqYHM='],
    ['ssha', '{SSHA}K/qCHdTzr1rftXNEV4Ob7XsySBlzYWx0'],
  ] as const;
  const lines = hashes.map(([user, hash]) => `${user}:${hash}`);

  const passes = async (test: PluginTest, user: string, password: string) =>
    (await test.request({ headers: login(user, password) })).response.status === 200;

  it('accepts users with every hash format, without a consumer', async () => {
    await writeFile(path, `# users\n\n${lines.join('\r\n')}\nwith-more:${hashes[1][1]}:a comment`);
    const test = started({ credentials_file: path });
    for (const user of [...hashes.map(([name]) => name), 'with-more']) {
      const { upstream, consumer, response } = await test.request({ headers: login(user, 'pw') });
      assert.equal(response.status, 200, user);
      assert.equal(consumer, null);
      assert.equal(upstream?.header('x-credential-identifier'), user);
      assert.equal(upstream?.header('x-consumer-username'), null);
      assert.equal(upstream?.header('x-anonymous-consumer'), null);
      assert.equal(await passes(test, user, 'wrong'), false);
    }
    assert.equal(await passes(test, 'nobody', 'pw'), false);
  });

  it('can name consumers', async () => {
    await writeFile(path, `alice:${hashes[0][1]}\nbob:${hashes[0][1]}\n`);
    const entities = { consumers: [alice] };
    const test = started({ credentials_file: path, consumer_by_username: true }, { entities });
    assert.equal((await test.request({ headers: login('alice', 'pw') })).consumer?.id, alice.id);
    const bob = await test.request({ headers: login('bob', 'pw') });
    assert.deepEqual([bob.response.status, bob.consumer], [200, null]);
  });

  it('has invalid lines reported by number, without their content, and the others work', async () => {
    const broken = ['no-colon-secret', ':hash-secret', 'plain:my-secret', lines[0], 'x\x01:y-secret'];
    await writeFile(
      path,
      Buffer.concat([Buffer.from(`${lines[0]}\n${broken.join('\n')}\n`), Buffer.from('\xff:secret', 'latin1')]),
    );
    const test = started({ credentials_file: path });
    assert.equal(await passes(test, 'bcrypt', 'pw'), true);
    const errors = test.logLines.filter(({ level }) => level === 'error');
    assert.deepEqual(
      errors.map(({ fields }) => [fields['file'], fields['line']]),
      [2, 3, 4, 5, 6, 7].map((line) => [path, line]),
    );
    assert.doesNotMatch(JSON.stringify(test.logLines), /secret/);
    assert.match(errors[2]?.message ?? '', /line 4 .* hash/);
  });

  it('is read again when it is written, replaced, removed and restored', async () => {
    const own = join(folder, 'changing');
    const test = started({ credentials_file: own });
    assert.equal(await passes(test, 'bcrypt', 'pw'), false);
    assert.match(test.logLines[0]?.message ?? '', /does not exist/);
    await writeFile(own, `first:${hashes[5][1]}\n`);
    await until(() => passes(test, 'first', 'pw'));
    await writeFile(`${own}.new`, `second:${hashes[5][1]}\n`);
    await rename(`${own}.new`, own);
    await until(() => passes(test, 'second', 'pw'));
    assert.equal(await passes(test, 'first', 'pw'), false);
    // Another password for the same user, of the same length.
    await writeFile(own, `second:./Pkhn1tKbCbd\n`);
    await until(async () => !(await passes(test, 'second', 'pw')));
    await rm(own);
    await until(() => test.logLines.filter(({ level }) => level === 'error').length === 2);
    await writeFile(own, `second:${hashes[5][1]}\n`);
    await until(() => passes(test, 'second', 'pw'));
  });

  it('accepts no user if it is a folder', async () => {
    const test = started({ credentials_file: folder });
    assert.equal(await passes(test, 'bcrypt', 'pw'), false);
    assert.match(test.logLines[0]?.message ?? '', /cannot be read/);
  });
});

it('gives one share of the checks to a client with a network of addresses', async () => {
  const row = { consumer: { id: alice.id }, username: 'al', password: '$1$abcdefgh$G//4keteveJp0qb8z2DxG/' };
  const test = started({}, { entities: { consumers: [alice], basicauth_credentials: [row] } });
  const from = async (clientIp: string, password: string): Promise<number> =>
    (await test.request({ clientIp, headers: login('al', password) })).response.status;
  const guesses = Array.from({ length: 300 }, (_, at) => from(`2001:db8::${at.toString(16)}`, `guess ${at}`));
  assert.equal(await from('192.0.2.1', 'mine'), 401);
  assert.ok((await Promise.all(guesses)).includes(503));
});
