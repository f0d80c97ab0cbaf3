import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { answer, answerEach } from '../support/raw-backend.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';
import { openTail } from './traffic-rig.fixture.ts';

/** Nothing that the recorder shows contains a secret. Every secret of these requests contains this text. */
const secret = 's3cr3t';

let rig: Rig;
before(async () => {
  rig = await startRig({
    env: { SLUICEGATE_TRAFFIC_RECORDER: '1000', SLUICEGATE_TRAFFIC_RECORDER_RATE: '1000' },
    script: answerEach(() =>
      answer(
        `{"access_token":"${secret}-body"}`,
        `Set-Cookie: sid=${secret}-cookie; Path=/\r\nLocation: https://u:${secret}-loc@b.test/cb?code=1&access_token=${secret}-tok#id_token=${secret}-frag\r\n`,
      ),
    ),
    route: { paths: ['/open'] },
  });
  await rig.write('PUT', '/services/backend/routes/locked', { paths: ['/locked'] });
  await rig.write('POST', '/routes/locked/plugins', { name: 'key-auth', config: { key_names: ['X-Own-Key'] } });
  await rig.write('PUT', '/services/backend/routes/masked', { paths: ['/masked'] });
  await rig.write('POST', '/routes/masked/plugins', {
    name: 'data-masking',
    config: { rules: [{ name: 'patient', headers: ['x-patient'], query_arguments: ['patient'] }] },
  });
  // A busy machine takes longer to load the plugin than a write waits.
  await until(async () => {
    const response = await exchangeOne(rig.port, 'GET /masked?patient=probe HTTP/1.1\r\nHost: a.test\r\n\r\n');
    return response.status === 200 && rig.backend.requests.at(-1)?.target.includes('probe') === false;
  });
  await rig.write('PUT', '/consumers/ann');
  await rig.write('POST', '/consumers/ann/key-auth', { key: `${secret}-key` });
});
after(() => rig.close());

const heads: readonly string[] = [
  `GET /open HTTP/1.1\r\nAuthorization: Bearer ${secret}-1`,
  `GET /open HTTP/1.1\r\nProxy-Authorization: Basic ${secret}-2`,
  `GET /open HTTP/1.1\r\nCookie: sid=${secret}-3; a=b`,
  `GET /open?apikey=${secret}-4&access_token=${secret}-5&%61pikey=${secret}-6&x=1 HTTP/1.1`,
  `GET /open HTTP/1.1\r\nReferer: https://u:${secret}-7@a.test/?token=${secret}-8#access_token=${secret}-9`,
  `GET /open HTTP/1.1\r\nX-Link: see https://u:${secret}-10@a.test/`,
  `GET /open/http://u:${secret}-11@b.test/x HTTP/1.1`,
  `GET /open?to=http%3A%2F%2Fu%3A${secret}-12%40b.test HTTP/1.1`,
  `GET /locked HTTP/1.1\r\nX-Own-Key: ${secret}-key`,
  `GET /locked?x-own-key=${secret}-key HTTP/1.1`,
  `GET /locked?X-OWN-KEY=${secret}-wrong HTTP/1.1`,
  // Sent to the wrong place, they are still keys.
  `GET /nowhere?x-own-key=${secret}-key HTTP/1.1\r\nX-Own-Key: ${secret}-key`,
  `GET /masked?patient=${secret}-13 HTTP/1.1\r\nX-Patient: ${secret}-14`,
  `POST /open HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n{"password":"${secret}-15"}`,
];

test('no secret of headers, query, cookies, paths and bodies is shown', async () => {
  await using tail = await openTail(rig.gateway.adminUrl);
  const ids: string[] = [];
  for (const head of heads) {
    const response = await exchangeOne(
      rig.port,
      head.includes('\r\n\r\n') ? head.replace('\r\n', '\r\nHost: a.test\r\n') : `${head}\r\nHost: a.test\r\n\r\n`,
    );
    ids.push(response.get('x-kong-request-id') ?? '');
  }
  await until(() => ids.every((id) => tail.requests().some((record) => record.id === id)));
  const shown = [tail.text, JSON.stringify((await rig.gateway.admin('GET', '/traffic')).body)];
  for (const [at, id] of ids.entries()) {
    const { status, body } = await rig.gateway.admin('GET', `/traffic/${id}`);
    assert.equal(status, 200, heads[at]);
    const text = JSON.stringify(body);
    assert.match(text, /REDACTED|\*\*\*|masked|"backend"/i, heads[at]);
    shown.push(text);
  }
  for (const text of shown) {
    const at = text.indexOf(secret);
    assert.equal(at, -1, text.slice(Math.max(0, at - 200), at + 40));
  }
  assert.match(shown.join(''), /"x-own-key":"REDACTED"/);
});

test('a plugin that traces requests does not see those that are only recorded', async () => {
  const tracer = join(import.meta.dirname, '../support/plugins/tracer.ts');
  await using traced = await startRig({
    env: { SLUICEGATE_TRAFFIC_RECORDER: '100', KONG_PLUGINS: `bundled,${tracer}` },
  });
  await traced.write('POST', '/plugins', { name: 'tracer', config: { rate: 0, header: 'X-Trace' } });
  const send = (path: string, fields = '') =>
    exchangeOne(traced.port, `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n`);
  // The plugin is in effect when it answers.
  await until(async () => (await send('/spans')).body.startsWith('{"finished"'));
  await send('/plain');
  await send('/traced', 'X-Trace: 1\r\n');
  const { finished } = JSON.parse((await send('/spans')).body) as {
    readonly finished: readonly { readonly path: string; readonly spans: readonly unknown[] | null }[];
  };
  assert.deepEqual(
    finished.map(({ path, spans }) => [path, spans !== null]),
    [
      ['/plain', false],
      ['/traced', true],
    ],
  );
  await until(async () => {
    const { body } = await traced.gateway.admin('GET', '/traffic?path=/plain&path=/traced');
    return (body['data'] as readonly { readonly traced: boolean }[]).filter((record) => record.traced).length === 2;
  });
});
