import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testNode, testPlugin } from '../../plugin-testing/index.ts';
import requestTermination from './index.ts';

type Config = Readonly<Record<string, unknown>>;

function terminated(config: Config, request: Parameters<ReturnType<typeof testPlugin>['request']>[0] = {}) {
  return testPlugin(requestTermination, { config }).request(request);
}

test('has the defaults of Kong', async () => {
  assert.deepEqual(await testPlugin(requestTermination).check({}), {
    ok: true,
    config: { status_code: 503, message: null, content_type: null, body: null, echo: false, trigger: null },
  });
});

const refused: readonly (readonly [Config, string])[] = [
  [{ status_code: 99 }, 'config.status_code: value should be between 100 and 599'],
  [{ status_code: 600 }, 'config.status_code: value should be between 100 and 599'],
  [{ status_code: 'x' }, 'config.status_code: expected an integer'],
  [{ message: 'a', body: 'b' }, 'config: message cannot be used with content_type or body'],
  [{ message: 'a', content_type: 'b' }, 'config: message cannot be used with content_type or body'],
  [{ content_type: 'text/plain' }, 'config: content_type requires a body'],
  [{ echo: true, body: 'b' }, 'config: echo cannot be used with content_type and body'],
];
for (const [config, message] of refused) {
  test(`refuses the configuration ${JSON.stringify(config)}`, async () => {
    assert.deepEqual(await testPlugin(requestTermination).check(config), {
      ok: false,
      message: `schema violation (${message})`,
    });
  });
}

test('refuses a trigger that is not a header name', async () => {
  assert.equal((await testPlugin(requestTermination).check({ trigger: 'a b' })).ok, false);
});

for (const [status, message] of [
  [401, 'Unauthorized'],
  [404, 'Not found'],
  [405, 'Method not allowed'],
  [500, 'An unexpected error occurred'],
  [502, 'Bad Gateway'],
  [503, 'Service unavailable'],
] as const) {
  test(`sends the default message of status ${status} in the compact form`, async () => {
    const { response, upstream } = await terminated({ status_code: status });
    assert.equal(upstream, null);
    assert.equal(response.status, status);
    assert.equal(response.body, `{"message":"${message}"}`);
    assert.equal(response.header('content-type'), 'application/json; charset=utf-8');
  });
}

test('sends an empty body for other statuses without a message', async () => {
  const { response } = await terminated({ status_code: 418 });
  assert.deepEqual([response.status, response.body], [418, '']);
});

test('sends any message as JSON', async () => {
  const { response } = await terminated({ status_code: 418, message: 'say "no"\n' });
  assert.deepEqual(JSON.parse(response.body), { message: 'say "no"\n' });
});

test('sends a body unchanged, with its media type', async () => {
  const { response } = await terminated({ status_code: 200, body: '<p>closed</p>', content_type: 'text/html' });
  assert.equal(response.body, '<p>closed</p>');
  assert.equal(response.header('content-type'), 'text/html');
});

test('answers 500 for a status below 200, with a warning', async () => {
  const plugin = testPlugin(requestTermination, { config: { status_code: 101 } });
  assert.equal((await plugin.request()).response.status, 500);
  assert.equal(plugin.logLines[0]?.level, 'warn');
});

test('terminates only requests with the header or argument of the trigger', async () => {
  const config = { status_code: 200, message: 'stopped', trigger: 'X-Stop' };
  assert.notEqual((await terminated(config)).upstream, null);
  assert.equal((await terminated(config, { headers: { 'x-stop': 'yes' } })).upstream, null);
  assert.equal((await terminated(config, { headers: { 'x-stop': '' } })).upstream, null);
  assert.equal((await terminated(config, { path: '/?X-Stop=1' })).upstream, null);
  assert.equal((await terminated(config, { path: '/?X-Stop' })).upstream, null);
  assert.notEqual((await terminated(config, { path: '/X-Stop' })).upstream, null);
});

test('echoes the node, the request and its route', async () => {
  const { response } = await terminated(
    { echo: true, status_code: 404 },
    {
      method: 'POST',
      path: '/a/../b?x=1&x=2&flag',
      headers: { 'Content-Type': 'application/json', 'X-One': ['1', '2'] },
      body: '{"name":"é"}',
    },
  );
  assert.equal(response.status, 404);
  assert.equal(response.header('content-type'), 'application/json; charset=utf-8');
  const echo = JSON.parse(response.body);
  assert.equal(echo.message, 'Not found');
  assert.deepEqual(echo.kong, { node_id: testNode.id, worker_pid: testNode.pid, hostname: testNode.hostname });
  assert.deepEqual(echo.request, {
    scheme: 'http',
    host: 'test.example',
    port: 8000,
    headers: {
      host: 'test.example',
      'content-type': 'application/json',
      'x-one': ['1', '2'],
      'content-length': '13',
    },
    query: { x: ['1', '2'], flag: '' },
    body: { name: 'é' },
    raw_body: '{"name":"é"}',
    method: 'POST',
    path: '/b',
    uri_captures: { named: {}, unnamed: [] },
  });
  assert.equal(echo.matched_route.name, 'test-route');
  assert.equal(echo.matched_service.name, 'test-service');
});

test('echoes a form body and omits a malformed JSON body', async () => {
  const form = await terminated(
    { echo: true },
    { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=1&b=2&b=3' },
  );
  assert.deepEqual(JSON.parse(form.response.body).request.body, { a: '1', b: ['2', '3'] });
  const broken = await terminated(
    { echo: true },
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' },
  );
  assert.equal('body' in JSON.parse(broken.response.body).request, false);
  assert.equal(JSON.parse(broken.response.body).request.raw_body, '{');
});

test('refuses to echo a body larger than 1 MiB', async () => {
  const { response } = await terminated({ echo: true }, { method: 'POST', body: Buffer.alloc(1024 * 1024 + 1) });
  assert.equal(response.status, 413);
});

test('does not read the body without echo', async () => {
  const { response } = await terminated({}, { method: 'POST', body: Buffer.alloc(1024 * 1024 + 1) });
  assert.equal(response.status, 503);
});

test('echoes a body with hundreds of thousands of fields in bounded time', async () => {
  const body = 'a&'.repeat(500_000);
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { response } = await terminated({ echo: true }, { method: 'POST', headers, body });
  assert.equal(JSON.parse(response.body).request.body.a.length, 500_000);
});
