import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 23: keys that two consumers share, that are sent twice, or that are sent where they cannot be read. */
const key = 'a-key-of-alice-and-nobody-else';
const cap = 1_048_576;
const form = 'Content-Type: application/x-www-form-urlencoded\r\n';

for (const hashKeys of [false, true]) {
  describe(`keys that are stored ${hashKeys ? 'hashed' : 'in plain text'}`, () => {
    let rig: Rig;
    before(async () => {
      rig = await startRig({ settings: { plugins: ['key-auth'], hashKeys } });
      await rig.write('PUT', '/consumers/alice', {});
      await rig.write('PUT', '/consumers/bob', {});
      await rig.write('POST', '/consumers/alice/key-auth', { key });
      await rig.write('POST', '/routes/all/plugins', { name: 'key-auth', config: { key_in_body: true } });
    });
    after(() => rig.close());

    const send = (target: string, headers: string, body = '') =>
      exchangeOne(
        rig.port,
        `POST ${target} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
      );

    it('are refused by the Admin API when another consumer has the same key', async () => {
      for (const method of ['POST', 'PUT']) {
        const path = method === 'POST' ? '/consumers/bob/key-auth' : '/key-auths/7f6b8c1e-0000-4000-8000-0000000000aa';
        const { body } = await rig.gateway.admin('GET', '/consumers/bob');
        const answer = await rig.gateway.admin(method, path, { key, consumer: { id: body['id'] } });
        assert.equal(answer.status, 409);
        assert.equal(answer.body['name'], 'unique constraint violation');
      }
    });

    it('count in the header before query and body', async () => {
      assert.equal((await send('/?apikey=other', `apikey: ${key}\r\n${form}`, 'apikey=other')).status, 200);
      assert.equal(rig.backend.requests.at(-1)?.get('x-consumer-username'), 'alice');
      assert.equal((await send(`/?apikey=${key}`, `apikey: other\r\n${form}`, `apikey=${key}`)).status, 401);
    });

    it('are refused when sent twice in one place', async () => {
      for (const [target, headers, body] of [
        ['/', `apikey: ${key}\r\nApiKey: ${key}\r\n`, ''],
        [`/?apikey=${key}&apikey=${key}`, '', ''],
        ['/', form, `apikey=${key}&apikey=${key}`],
      ] as const) {
        const answer = await send(target, headers, body);
        assert.equal(answer.status, 401);
        assert.match(answer.body, /Duplicate API key found/);
      }
    });

    it('are refused in a body over the cap, and the request is not forwarded without a key', async () => {
      const seen = rig.backend.requests.length;
      const fits = `apikey=${key}&x=`.padEnd(cap, 'x');
      assert.equal((await send('/', form, fits)).status, 200);
      assert.equal((await send('/', form, `${fits}x`)).status, 413);
      const chunk = `${(cap + 1).toString(16)}\r\n${fits}x\r\n0\r\n\r\n`;
      const chunked = `POST / HTTP/1.1\r\nHost: a\r\n${form}Transfer-Encoding: chunked\r\n\r\n${chunk}`;
      assert.equal((await exchangeOne(rig.port, chunked)).status, 413);
      assert.equal(rig.backend.requests.length, seen + 1);
    });

    it('are refused when a million bytes long', async () => {
      const long = 'k'.repeat(1_000_000);
      assert.equal((await send('/', form, `apikey=${long}`)).status, 401);
      assert.equal(
        (await send('/', 'Content-Type: application/json\r\n', JSON.stringify({ apikey: long }))).status,
        401,
      );
    });

    it('are refused when they are a part or a neighbour of a valid key', async () => {
      for (const wrong of [key.slice(0, -1), `${key}x`, key.toUpperCase(), `${key}%00`, '*', "' OR 1=1 --"]) {
        const answer = await send('/', `apikey: ${wrong}\r\n`);
        assert.deepEqual([answer.status, answer.get('www-authenticate')], [401, 'Key']);
      }
    });
  });
}
