import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-sdk/testing.ts';
import requestSizeLimiting from './index.ts';

async function statusFor(config: Readonly<Record<string, unknown>>, bytes: number): Promise<number> {
  const request = { method: 'POST', body: 'x'.repeat(bytes) };
  return (await testPlugin(requestSizeLimiting, { config }).request(request)).response.status;
}

test('the default limit is 128 megabytes', async () => {
  const result = await testPlugin(requestSizeLimiting).check({});
  assert.deepEqual(result, {
    ok: true,
    config: { allowed_payload_size: 128, size_unit: 'megabytes', require_content_length: false },
  });
});

test('a unit that is none is refused', async () => {
  const result = await testPlugin(requestSizeLimiting).check({ size_unit: 'gigabytes' });
  assert.equal(result.ok, false);
});

test('a body of the limit passes, one byte more does not, in each unit', async () => {
  for (const [unit, size] of [
    ['bytes', 1],
    ['kilobytes', 1024],
    ['megabytes', 1024 * 1024],
  ] as const) {
    const config = { allowed_payload_size: 2, size_unit: unit };
    assert.equal(await statusFor(config, 2 * size), 200, unit);
    assert.equal(await statusFor(config, 2 * size + 1), 413, unit);
  }
});

test('a limit of 0 lets requests without a body pass', async () => {
  const config = { allowed_payload_size: 0, size_unit: 'bytes' };
  assert.equal(await statusFor(config, 0), 200);
  assert.equal(await statusFor(config, 1), 413);
});

test('the refusal has the error template and does not reach the backend', async () => {
  const config = { allowed_payload_size: 1, size_unit: 'bytes' };
  const outcome = await testPlugin(requestSizeLimiting, { config }).request({ method: 'POST', body: 'xx' });
  assert.equal(outcome.upstream, null);
  assert.equal(
    outcome.response.body,
    `{\n  "message":"Request size limit exceeded",\n  "request_id":"${outcome.requestId}"\n}`,
  );
});

test('a client that waits for 100 Continue is told that its expectation is not met', async () => {
  const { response } = await testPlugin(requestSizeLimiting, {
    config: { allowed_payload_size: 1, size_unit: 'bytes' },
  }).request({ method: 'POST', body: 'xx', headers: { Expect: '100-Continue' } });
  assert.equal(response.status, 417);
  assert.match(response.body, /"message":"Request size limit exceeded"/);
});

test('a length can be required', async () => {
  const required = testPlugin(requestSizeLimiting, { config: { require_content_length: true } });
  const refused = (await required.request()).response;
  assert.equal(refused.status, 411);
  assert.match(refused.body, /"message":"A valid Content-Length header is required"/);
  assert.equal((await required.request({ method: 'POST', body: 'x' })).response.status, 200);
  const chunked = { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } };
  assert.equal((await required.request(chunked)).response.status, 200);
});
