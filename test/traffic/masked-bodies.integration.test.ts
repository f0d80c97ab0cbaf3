import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type GuardedGateway, startGuardedGateway } from '../../src/control/admin/access/users.fixture.ts';
import { startTestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { type BodiesRig, bodiesOf, startBodiesRig } from './bodies-rig.fixture.ts';
import { openTail, type Record } from './traffic-rig.fixture.ts';

/** No recorded body shows a secret, and only those who may edit see bodies. Every secret contains this text. */
const secret = 's3cr3t';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };
const multipart = { 'content-type': 'multipart/form-data; boundary=b' };

let rig: BodiesRig;
before(async () => {
  rig = await startBodiesRig({ SLUICEGATE_TRAFFIC_RECORDER_BODIES: '4096' });
  const route = (name: string, ...plugins: readonly object[]) =>
    rig
      .write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false })
      .then(() => Promise.all(plugins.map((plugin) => rig.write('POST', `/routes/${name}/plugins`, plugin))));
  await route('keys', { name: 'key-auth', config: { key_names: ['X-Own-Key'], key_in_body: true } });
  await route('masked', {
    name: 'data-masking',
    config: {
      rules: [
        { name: 'patient', json_paths: ['$..patient'], form_fields: ['patient'], direction: 'log' },
        { name: 'mail', kinds: ['email'], direction: 'log' },
        // Found in queries when the plugin is there.
        { name: 'probe', query_arguments: ['probe'] },
      ],
    },
  });
  await rig.write('PUT', '/consumers/ann');
  await rig.write('POST', '/consumers/ann/key-auth', { key: `${secret}-key` });
  // A busy machine takes longer to load plugins than a write waits.
  await until(async () => {
    const locked = await fetch(`${rig.gateway.proxyUrl}/keys`);
    const record = await rig.recordOf('/masked?probe=1');
    return locked.status === 401 && record.explanation.request.query === 'probe=***';
  });
});
after(() => rig?.close());

const post = (body: string | Uint8Array<ArrayBuffer>, headers: globalThis.Record<string, string>): RequestInit => ({
  method: 'POST',
  headers,
  body,
});

const credentials: readonly (readonly [path: string, headers: globalThis.Record<string, string>, body: string])[] = [
  ['/keys', form, `X-Own-Key=${secret}-key&a=1`],
  ['/keys', json, `{"X-Own-Key":"${secret}-key","a":1}`],
  ['/keys', multipart, `--b\r\nContent-Disposition: form-data; name="X-Own-Key"\r\n\r\n${secret}-key\r\n--b--\r\n`],
  ['/keys', form, `x-own-key=${secret}-wrong`],
  // Sent to the wrong place, they are still keys; nothing is read where no route matches.
  ['/open', form, `X-Own-Key=${secret}-key`],
  ['/open', json, `{"x_own_key":"${secret}-key"}`],
  ['/open', { 'content-type': 'text/plain' }, `{"X-Own-Key":"${secret}-key"}`],
  ['/nowhere', form, `X-Own-Key=${secret}-key`],
  ['/open/oauth2/token', form, `grant_type=password&username=ann&password=${secret}&client_secret=${secret}`],
  ['/open/oauth2/token', form, `grant_type=authorization_code&code=${secret}&code_verifier=${secret}`],
  ['/open/oauth2/token', json, `{"access_token":"${secret}","refresh_token":"${secret}","token_type":"bearer"}`],
  ['/open/oauth2/token', { 'content-type': 'text/html' }, `grant_type=refresh_token&refresh_token=${secret}`],
  ['/open', json, `{"user":{"name":"ann","newPassword":"${secret}"},"cut":"${'x'.repeat(5_000)}"}`],
  ['/open', json, `{"cut":"${'x'.repeat(4_070)}","password":"${secret}${'y'.repeat(50)}"}`],
];

describe('credentials in bodies', () => {
  it('are masked on every route, of every type', async () => {
    await using tail = await openTail(rig.gateway.adminUrl);
    for (const [path, headers, body] of credentials) {
      for (const coding of [null, 'gzip'] as const) {
        const sent =
          coding === null ? post(body, headers) : post(gzipSync(body), { ...headers, 'content-encoding': coding });
        const record = await rig.recordOf(path, sent);
        const { request } = bodiesOf(record);
        const text = JSON.stringify(record);
        assert.ok(!text.includes(secret), text);
        if (path !== '/nowhere' && record.status !== 401) assert.match(request.text, /REDACTED/, `${path} ${body}`);
      }
    }
    assert.ok(!tail.text.includes(secret));
    const { body } = await rig.gateway.admin('GET', '/traffic?size=1000');
    assert.ok(!JSON.stringify(body).includes(secret));
  });

  it('are masked where an answer repeats those of the request', async () => {
    rig.answers.set(`/open/echo?apikey=${secret}%2Fquery`, ({ rawHeaders, url }, response) => {
      response.end(JSON.stringify([rawHeaders, decodeURIComponent(url ?? '')]));
    });
    const { response } = bodiesOf(
      await rig.recordOf(`/open/echo?apikey=${secret}%2Fquery`, {
        headers: {
          authorization: `Basic ${secret}-12`,
          cookie: `a=1; sid=${secret}-cookie`,
          'x-own-key': `${secret}-own`,
        },
      }),
    );
    assert.ok(!response.text.includes(secret), response.text);
    assert.match(response.text, /"x-own-key","REDACTED"/);
  });

  it('leave the rest of a body readable', async () => {
    const { request } = bodiesOf(await rig.recordOf('/open', post(`{"password":"${secret}","name":"ann"}`, json)));
    assert.equal(request.text, '{"password":"REDACTED","name":"ann"}');
  });
});

describe('rules of data-masking', () => {
  it('mask bodies of both directions', async () => {
    const body = `{"patient":"${secret}","to":"${secret}@example.com","n":1}`;
    const record = await rig.recordOf('/masked', post(body, json));
    const shown = { patient: '***', to: '***', n: 1 };
    const { request, response } = bodiesOf(record);
    assert.deepEqual(JSON.parse(request.text), shown);
    // The backend echoes it, and no rule masks what the client receives.
    assert.deepEqual(JSON.parse(response.text), shown);
    const fields = bodiesOf(await rig.recordOf('/masked', post(`patient=${secret}&n=1`, form))).request;
    assert.equal(fields.text, 'patient=***&n=1');
    const packed = post(gzipSync(body), { ...json, 'content-encoding': 'gzip' });
    assert.deepEqual(JSON.parse(bodiesOf(await rig.recordOf('/masked', packed)).request.text), shown);
  });

  it('mask what a plugin refused', async () => {
    await rig.write('POST', '/routes/masked/plugins', { name: 'request-termination', config: { status_code: 403 } });
    rig.answers.delete('/masked');
    await until(async () => (await fetch(`${rig.gateway.proxyUrl}/masked`)).status === 403);
    const record = await rig.recordOf('/masked', post(`{"patient":"${secret}"}`, json));
    assert.ok(!JSON.stringify(record).includes(secret));
    const { body } = await rig.gateway.admin('GET', '/routes/masked/plugins');
    const plugins = body['data'] as readonly { readonly id: string; readonly name: string }[];
    await rig.gateway.admin('DELETE', `/plugins/${plugins.find(({ name }) => name === 'request-termination')?.id}`);
    await until(async () => (await fetch(`${rig.gateway.proxyUrl}/masked`)).status === 200);
  });

  it('leave out what they cannot mask, with the reason', async () => {
    for (const [what, headers, body, reason] of [
      ['cut off', json, `{"patient":"${secret}","x":"${'x'.repeat(5_000)}"}`, /longer than what was recorded/],
      ['broken', json, `{"patient":"${secret}"`, /cannot be masked/],
      ['of another type', { 'content-type': 'image/png' }, `patient ${secret}`, /cannot be masked/],
      ['of no type', { 'content-type': '' }, `patient=${secret}`, /cannot be masked/],
      ['JSON as text', { 'content-type': 'text/plain' }, `{"patient":"${secret}"}`, /cannot be masked/],
      ['a bomb', { ...json, 'content-encoding': 'gzip' }, gzipSync(`"${secret.repeat(100_000)}"`), /longer than/],
      ['not UTF-8', json, Buffer.concat([Buffer.from(`{"patient":"${secret}`), Buffer.from([255, 34, 125])]), /masked/],
    ] as const) {
      const record = await rig.recordOf('/masked', post(body, headers));
      const { request } = bodiesOf(record);
      assert.match(request.reason ?? '', reason, what);
      assert.ok(!JSON.stringify(record).includes(secret), what);
    }
  });
});

describe('callers of the Admin API', () => {
  let guarded: GuardedGateway;
  before(async () => {
    guarded = await startGuardedGateway();
    const backend = new URL(rig.gateway.proxyUrl);
    await guarded.admin('PUT', '/services/a', { url: `http://127.0.0.1:${backend.port}/open` });
    await guarded.admin('PUT', '/services/a/routes/a', { paths: ['/a'] });
  });
  after(() => guarded?.[Symbol.asyncDispose]());

  const send = async (): Promise<string> => {
    const response = await fetch(`${guarded.gateway.proxyUrl}/a`, post('{"hello":"body"}', json));
    await response.arrayBuffer();
    return response.headers.get('x-kong-request-id') ?? '';
  };
  const read = async (as: GuardedGateway['admin'], id: string, query = ''): Promise<Record> => {
    let answer: Record;
    await until(async () => {
      answer = await as('GET', `/traffic/${id}${query}`);
      return answer.status !== 404;
    });
    return answer;
  };

  it('who may not edit can neither request bodies nor see those of others', async () => {
    for (const path of ['/traffic?bodies=100', '/traffic/live?bodies=100', '/traffic/x?bodies=100']) {
      const { status, json: refusal } = await guarded.reader('GET', path);
      assert.equal(status, 403, path);
      assert.match(String(refusal['message']), /bodies of GET \/traffic.* need the role edit/);
    }
    assert.equal((await guarded.alice('GET', '/traffic?bodies=100')).status, 200);
    const id = await send();
    assert.equal((await read(guarded.alice, id)).json.explanation.request.body.text, '{"hello":"body"}');
    assert.equal((await read(guarded.admin, id)).json.explanation.response.body.text, '{"hello":"body"}');
    const seen = await read(guarded.reader, id, '?bodies=0');
    assert.equal(seen.status, 200);
    assert.equal(seen.json.explanation.request.body, '16 bytes');
    assert.equal(seen.json.explanation.response, undefined);
    assert.ok(!seen.text.includes('"hello'));
  });

  it('are answered 400 for a number that is none, and too large', async () => {
    for (const value of ['-1', 'x', '', '65537', '1e3', '1&bodies=2']) {
      const { status, json: refusal } = await guarded.admin('GET', `/traffic?bodies=${value}`);
      assert.equal(status, 400, value);
      assert.match(JSON.stringify(refusal), /bodies/);
    }
  });

  it('get bodies only while somebody asks for them', async () => {
    const gateway = await startTestGateway();
    try {
      await gateway.admin('PUT', '/services/a', { url: `${rig.gateway.proxyUrl}/open` });
      await gateway.admin('PUT', '/services/a/routes/a', { paths: ['/a'] });
      const record = async (): Promise<Record> => {
        const response = await fetch(`${gateway.proxyUrl}/a`, post('{"hello":"body"}', json));
        await response.arrayBuffer();
        let found: Record;
        await until(async () => {
          const { status, body } = await gateway.admin('GET', `/traffic/${response.headers.get('x-kong-request-id')}`);
          found = body;
          return status === 200;
        });
        return found;
      };
      const recorded = async (): Promise<number> => {
        const { body } = await gateway.admin('GET', '/traffic');
        return (body as Record)['recorder'].bodies;
      };
      assert.equal(await recorded(), 0);
      assert.equal(bodiesOf(await record()).request, '16 bytes');
      {
        await using _tail = await openTail(gateway.adminUrl, '?bodies=4');
        assert.equal(await recorded(), 4);
        const { request } = bodiesOf(await record());
        assert.deepEqual([request.text, request.truncated], ['{"he', true]);
        await using _wider = await openTail(gateway.adminUrl, '?bodies=100');
        assert.equal(bodiesOf(await record()).request.text, '{"hello":"body"}');
      }
      await until(async () => (await recorded()) === 0);
      await until(async () => bodiesOf(await record()).request === '16 bytes');
    } finally {
      await gateway.stop();
    }
  });
});
