import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { certificateRequest, challengeCertificate, newKeyPair } from './certificates.ts';
import { memoryStore } from './memory-store.fixture.ts';
import { AcmeRecords, leaseSeconds, maxOrdersPerHour, renewalTime } from './records.ts';

const host = 'a.example.com';
const minute = 60_000;
const issued = { cert: await pem(), key: 'key' };
const never = () => false;

async function pem(): Promise<string> {
  const both = await challengeCertificate(host, 'token.thumbprint');
  return both.slice(both.indexOf('-----BEGIN CERT'));
}

describe('a host', () => {
  let store = memoryStore();
  let [one, other] = [new AcmeRecords(store, 'one'), new AcmeRecords(store, 'other')];
  beforeEach(() => {
    store = memoryStore();
    [one, other] = [new AcmeRecords(store, 'one'), new AcmeRecords(store, 'other')];
  });

  const claim = async (records: AcmeRecords, more = {}) => {
    const claimed = await records.claim({ host, manual: false, due: never, ...more });
    return claimed.kind === 'claimed' ? claimed.lease : claimed.kind;
  };

  it('belongs to one node at a time', async () => {
    const all = await Promise.all([one, other, one, other].map((records) => claim(records)));
    assert.deepEqual(all.slice(1), ['busy', 'busy', 'busy']);
    assert.equal(await one.save(host, all[0] ?? '', issued), 'saved');
    assert.equal(await claim(other), 'fresh');
    assert.deepEqual([store.rows('certificates').length, store.rows('snis').length], [1, 1]);
  });

  it('is released when its node has died, and a late certificate of that node is refused', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    const dead = await claim(one);
    t.mock.timers.tick(leaseSeconds * 1000 - 1);
    assert.equal(await claim(other), 'busy');
    t.mock.timers.tick(1);
    const lease = await claim(other);
    assert.match(lease, /^[0-9a-f-]{36}$/);
    assert.equal(await one.save(host, dead, issued), 'lost');
    assert.equal(store.rows('certificates').length, 0);
    assert.equal(await other.save(host, lease, issued), 'saved');
  });

  it('stays with a node that extends its lease, and not with one that has lost it', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    const lease = await claim(one);
    for (let times = 0; times < 5; times++) {
      t.mock.timers.tick(leaseSeconds * 1000 - 1);
      assert.equal(await one.extend(host, lease), true);
      assert.equal(await claim(other), 'busy');
    }
    t.mock.timers.tick(leaseSeconds * 1000);
    const next = await claim(other);
    assert.equal(await one.extend(host, lease), false);
    assert.equal(await other.extend(host, next), true);
  });

  it('is updated by a renewal', async () => {
    await one.save(host, await claim(one), issued);
    const before = store.rows('certificates')[0];
    const next = { cert: await pem(), key: 'another' };
    await other.save(host, await claim(other, { due: () => true }), next);
    assert.equal(store.rows('certificates').length, 1);
    const { id, key } = store.rows('certificates')[0] ?? { id: '', key: '' };
    assert.deepEqual([id, key], [before?.id, 'another']);
    assert.deepEqual(
      (await one.managed()).map((managed) => managed.host),
      [host],
    );
  });

  it('waits after a failure, twice as long each time, up to a day', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    const pauses: number[] = [];
    for (let failed = 0; failed < 12; failed++) {
      const lease = await claim(one);
      const pause = await one.release(host, lease, { reason: 'why', backoff: 5 * minute });
      pauses.push(pause / minute);
      assert.equal(await claim(other), 'backoff');
      assert.notEqual(await claim(other, { manual: true }).then((id) => other.release(host, id, null)), undefined);
      t.mock.timers.tick(pause);
    }
    assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440]);
    await one.save(host, await claim(one), issued);
    assert.deepEqual(
      store
        .rows('acme_storage')
        .map(({ key }) => String(key).split(':')[0])
        .sort(),
      ['certificate', 'hour'],
    );
  });

  it('with a certificate of an administrator is not changed', async () => {
    await store.write(async (writer) => {
      const { id } = await writer.insert('certificates', { cert: issued.cert, key: 'mine' });
      await writer.insert('snis', { name: host, certificate: { id } });
    });
    assert.equal(await claim(one), 'taken');
    assert.equal(await claim(one, { manual: true }), 'taken');
  });

  it('that gets a certificate of an administrator during the order is not changed', async () => {
    const lease = await claim(one);
    await store.write((writer) => writer.insert('snis', { name: host, certificate: { id: 'mine' } }));
    assert.equal(await one.save(host, lease, issued), 'taken');
    assert.deepEqual(store.rows('certificates'), []);
  });

  it('whose SNI was deleted gets it again with the next certificate', async () => {
    await one.save(host, await claim(one), issued);
    await store.write(async (writer) => {
      for (const { id } of await writer.all('snis')) await writer.delete('snis', id);
    });
    assert.equal(await one.save(host, await claim(one), issued), 'saved');
    assert.deepEqual([store.rows('certificates').length, store.rows('snis').length], [1, 1]);
  });

  it('is removed from the records when its certificate was deleted', async () => {
    await one.save(host, await claim(one), issued);
    await store.write(async (writer) => {
      for (const entity of ['certificates', 'snis']) {
        for (const { id } of await writer.all(entity)) await writer.delete(entity, id);
      }
    });
    assert.deepEqual(await one.managed(), []);
    assert.equal(
      store.rows('acme_storage').some(({ key }) => key === `certificate:${host}`),
      false,
    );
  });
});

it('new certificates in one hour have a limit, over all nodes', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 3600_000 * 1000 });
  const store = memoryStore();
  const nodes = [new AcmeRecords(store, 'one'), new AcmeRecords(store, 'other')];
  const kinds: string[] = [];
  const ask = async (at: number) =>
    (await nodes[at % 2]?.claim({ host: `h${at}.example.com`, manual: false, due: never }))?.kind ?? '';
  for (let at = 0; at < maxOrdersPerHour + 5; at++) kinds.push(await ask(at));
  assert.equal(kinds.filter((kind) => kind === 'claimed').length, maxOrdersPerHour);
  assert.equal(kinds.at(-1), 'limit');
  const asked = await nodes[0]?.claim({ host: 'person.example.com', manual: true, due: never });
  assert.equal(asked?.kind, 'claimed');
  t.mock.timers.tick(3600_000);
  assert.equal(await ask(1000), 'claimed');
});

it('an account has one key for all nodes', async () => {
  const store = memoryStore();
  const accounts = await Promise.all(['one', 'other'].map((node) => new AcmeRecords(store, node).account('le')));
  assert.deepEqual(accounts[0], accounts[1]);
  assert.equal(accounts[0]?.url, null);
  await new AcmeRecords(store, 'one').registered('le', { key: accounts[0]?.key ?? {}, url: 'https://ca/1' });
  assert.equal((await new AcmeRecords(store, 'other').account('le')).url, 'https://ca/1');
});

it('a certificate is renewed at the threshold, or in the last third of a short lifetime', async () => {
  const { X509Certificate } = await import('node:crypto');
  const { validFromDate: from, validToDate: to } = new X509Certificate(issued.cert);
  const [begin, end] = [from.getTime(), to.getTime()];
  assert.equal(renewalTime(issued.cert, 1000), end - 1000);
  assert.equal(renewalTime(issued.cert, 14 * 24 * 3600_000), end - (end - begin) / 3);
});

it('signing requests and challenge certificates are valid for OpenSSL and the RFC', async () => {
  const { execFileSync } = await import('node:child_process');
  const { createHash } = await import('node:crypto');
  for (const kind of [
    { type: 'rsa', rsaBits: 2048 },
    { type: 'ecc', rsaBits: 0 },
  ] as const) {
    for (const name of [host, `${'long.'.repeat(20)}example.com`]) {
      const der = certificateRequest(name, await newKeyPair(kind));
      const options = ['req', '-inform', 'der', '-noout', '-verify', '-text', '-subject', '-nameopt', 'RFC2253'];
      const text = execFileSync('openssl', options, {
        input: der,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      assert.match(text, new RegExp(`DNS:${name}\\n`));
      assert.match(text, name === host ? /subject=CN=a\.example\.com/ : /subject=\n/);
    }
  }
  const text = execFileSync('openssl', ['x509', '-noout', '-text'], { input: await pem(), encoding: 'utf8' });
  assert.match(text, /DNS:a\.example\.com\n/);
  const digest = createHash('sha256').update('token.thumbprint').digest();
  const both = await pem();
  const raw = Buffer.from(both.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  // The extension of RFC 8737, section 3: its identifier, critical, a digest within two octet strings.
  const wanted = Buffer.concat([Buffer.from('06082b060105050701 1f0101ff04220420'.replace(' ', ''), 'hex'), digest]);
  assert.equal(raw.includes(wanted), true);
});
