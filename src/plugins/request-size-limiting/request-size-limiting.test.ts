import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import requestSizeLimiting from './index.ts';

async function statusFor(config: Readonly<Record<string, unknown>>, bytes: number): Promise<number> {
  const request = { method: 'POST', body: 'x'.repeat(bytes) };
  return (await testPlugin(requestSizeLimiting, { config }).request(request)).response.status;
}

test('has a default limit of 128 megabytes', async () => {
  const result = await testPlugin(requestSizeLimiting).check({});
  assert.deepEqual(result, {
    ok: true,
    config: { allowed_payload_size: 128, size_unit: 'megabytes', require_content_length: false },
  });
});

test('refuses an unknown unit', async () => {
  const result = await testPlugin(requestSizeLimiting).check({ size_unit: 'gigabytes' });
  assert.equal(result.ok, false);
});

test('accepts a body of the limit and refuses one byte more, in each unit', async () => {
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

test('accepts requests without a body with a limit of 0', async () => {
  const config = { allowed_payload_size: 0, size_unit: 'bytes' };
  assert.equal(await statusFor(config, 0), 200);
  assert.equal(await statusFor(config, 1), 413);
});

test('refuses with the error template, before the backend', async () => {
  const config = { allowed_payload_size: 1, size_unit: 'bytes' };
  const outcome = await testPlugin(requestSizeLimiting, { config }).request({ method: 'POST', body: 'xx' });
  assert.equal(outcome.upstream, null);
  assert.equal(
    outcome.response.body,
    `{\n  "message":"Request size limit exceeded",\n  "request_id":"${outcome.requestId}"\n}`,
  );
});

test('answers 417 to a client that waits for 100 Continue', async () => {
  const { response } = await testPlugin(requestSizeLimiting, {
    config: { allowed_payload_size: 1, size_unit: 'bytes' },
  }).request({ method: 'POST', body: 'xx', headers: { Expect: '100-Continue' } });
  assert.equal(response.status, 417);
  assert.match(response.body, /"message":"Request size limit exceeded"/);
});

test('requires a length if configured', async () => {
  const required = testPlugin(requestSizeLimiting, { config: { require_content_length: true } });
  const refused = (await required.request()).response;
  assert.equal(refused.status, 411);
  assert.match(refused.body, /"message":"A valid Content-Length header is required"/);
  assert.equal((await required.request({ method: 'POST', body: 'x' })).response.status, 200);
  const chunked = { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } };
  assert.equal((await required.request(chunked)).response.status, 200);
});
