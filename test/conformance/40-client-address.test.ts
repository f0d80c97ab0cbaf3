import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RawResponse } from '../support/http-message.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 40: every spelling of an address in a trusted header is the same client. */
const spellings = [
  '203.0.113.9',
  '::ffff:203.0.113.9',
  '::FFFF:cb00:7109',
  '0:0:0:0:0:ffff:203.0.113.9',
  '0000:0000:0000:0000:0000:ffff:cb00:7109',
  '64:ff9b::203.0.113.9',
  '64:ff9b::cb00:7109',
  '203.0.113.9:4711',
  '[::ffff:203.0.113.9]',
  '[::ffff:203.0.113.9]:4711',
  '::ffff:203.0.113.9:4711',
  '::ffff:203.0.113.9%eth0',
  ' \t203.0.113.9\t ',
];

for (const header of ['X-Forwarded-For', 'X-Real-IP']) {
  describe(`the client that a trusted proxy names in ${header}`, () => {
    let rig: Rig;
    before(async () => {
      rig = await startRig({
        settings: { trustedIps: ['127.0.0.0/8', '::1/128'], realIpHeader: header, realIpRecursive: true },
      });
      const limited = { paths: ['/limited'], strip_path: false };
      await rig.write('PUT', '/services/backend/routes/denied', { paths: ['/denied'], strip_path: false });
      await rig.write('PUT', '/services/backend/routes/listed', { paths: ['/listed'], strip_path: false });
      await rig.write('PUT', '/services/backend/routes/limited', limited);
      await rig.write('POST', '/routes/denied/plugins', { name: 'ip-restriction', config: { deny: ['203.0.113.9'] } });
      await rig.write('POST', '/routes/listed/plugins', {
        name: 'ip-restriction',
        config: { allow: ['64:ff9b::203.0.113.0/120'] },
      });
      await rig.write('POST', '/routes/limited/plugins', {
        name: 'rate-limiting',
        config: { hour: spellings.length, policy: 'local', limit_by: 'ip' },
      });
    });
    after(() => rig.close());

    const get = (path: string, client: string): Promise<RawResponse> =>
      exchangeOne(rig.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n${header}: ${client}\r\n\r\n`);

    for (const spelling of spellings) {
      it(`is the same client when written ${JSON.stringify(spelling)}`, async () => {
        assert.equal((await get('/denied', spelling)).status, 403);
        assert.equal((await get('/listed', spelling)).status, 200);
        assert.equal(rig.backend.requests.at(-1)?.get('x-real-ip'), '203.0.113.9');
      });
    }

    it('has one rate limit for all spellings', async () => {
      for (const spelling of spellings) assert.equal((await get('/limited', spelling)).status, 200);
      assert.equal((await get('/limited', '::ffff:203.0.113.9')).status, 429);
      assert.equal((await get('/limited', '203.0.113.10')).status, 200);
    });

    it('is the proxy when the text is not an address', async () => {
      for (const text of ['[::1', '203.0.113.9x', '[203.0.113.9]x', 'unknown']) {
        assert.equal((await get('/listed', text)).status, 403, text);
      }
    });
  });
}

it('trusts a proxy in every spelling of its address', async () => {
  await using rig = await startRig({
    settings: {
      trustedIps: ['::ffff:127.0.0.0/104', '64:ff9b::10.0.0.0/104'],
      realIpHeader: 'X-Forwarded-For',
      realIpRecursive: true,
    },
  });
  const hops = '203.0.113.9, 64:ff9b::10.1.2.3, [::ffff:10.0.0.1]:80, 10.2.3.4:81';
  await exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${hops}\r\n\r\n`);
  assert.equal(rig.backend.requests.at(-1)?.get('x-real-ip'), '203.0.113.9');
});
