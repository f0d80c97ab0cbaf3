import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import ipRestriction from './index.ts';

async function refusedConfig(config: Readonly<Record<string, unknown>>): Promise<string> {
  const result = await testPlugin(ipRestriction).check(config);
  assert.equal(result.ok, false);
  return result.ok ? '' : result.message;
}

async function statusFor(config: Readonly<Record<string, unknown>>, clientIp: string): Promise<number> {
  return (await testPlugin(ipRestriction, { config }).request({ clientIp })).response.status;
}

test('refuses a configuration without allow and deny', async () => {
  const message = "schema violation (at least one of these fields must be non-empty: 'config.allow', 'config.deny')";
  assert.equal(await refusedConfig({}), message);
  assert.equal(await refusedConfig({ allow: [], deny: [] }), message);
});

test('refuses an entry that is no address or range, and names it', async () => {
  assert.equal(
    await refusedConfig({ allow: ['10.0.0.0/8', '10.0.0.0/33'] }),
    `schema violation (config.allow: {\n  [2] = "invalid ip or cidr range: '10.0.0.0/33'"\n})`,
  );
  assert.match(await refusedConfig({ deny: ['example.com'] }), /invalid ip or cidr range: 'example.com'/);
});

test('refuses an unknown field', async () => {
  assert.match(await refusedConfig({ allow: ['::1'], whitelist: ['::1'] }), /config.whitelist: unknown field/);
});

test('compiles every entry that the schema accepts', async () => {
  for (const entry of ['10.0.0.1', '10.0.0.1/8', '0.0.0.0/0', '::1', '::/0', '2001:db8::1/32', '::ffff:10.0.0.1/120']) {
    assert.equal((await statusFor({ deny: [entry] }, '192.0.2.1')) !== 500, true, entry);
  }
});

test('accepts only listed addresses with allow', async () => {
  const config = { allow: ['10.0.0.0/8', '2001:db8::/32'] };
  assert.equal(await statusFor(config, '10.1.2.3'), 200);
  assert.equal(await statusFor(config, '2001:db8::7'), 200);
  assert.equal(await statusFor(config, '11.0.0.1'), 403);
  assert.equal(await statusFor(config, '2001:db9::7'), 403);
});

test('refuses only listed addresses with deny', async () => {
  const config = { deny: ['10.0.0.1', 'fe80::/10'] };
  assert.equal(await statusFor(config, '10.0.0.1'), 403);
  assert.equal(await statusFor(config, '10.0.0.2'), 200);
  assert.equal(await statusFor(config, 'fe80::1'), 403);
});

test('applies deny before allow', async () => {
  const config = { allow: ['10.0.0.0/8'], deny: ['10.0.0.1'] };
  assert.equal(await statusFor(config, '10.0.0.1'), 403);
  assert.equal(await statusFor(config, '10.0.0.2'), 200);
});

test('uses the IPv4 address of a client on an IPv6 socket', async () => {
  assert.equal(await statusFor({ deny: ['10.0.0.0/8'] }, '::ffff:10.0.0.1'), 403);
  assert.equal(await statusFor({ allow: ['10.0.0.0/8'] }, '::ffff:10.0.0.1'), 200);
});

test('refuses with the address in the error template, before the backend', async () => {
  const { response, upstream, requestId } = await testPlugin(ipRestriction, { config: { allow: ['::1'] } }).request();
  assert.equal(upstream, null);
  assert.equal(response.header('content-type'), 'application/json; charset=utf-8');
  assert.equal(response.body, `{\n  "message":"IP address not allowed: 127.0.0.1",\n  "request_id":"${requestId}"\n}`);
});

test('refuses with the configured status and message', async () => {
  const config = { allow: ['::1'], status: 404, message: 'nothing here' };
  const { response } = await testPlugin(ipRestriction, { config }).request({ headers: { Accept: 'text/plain' } });
  assert.equal(response.status, 404);
  assert.match(response.body, /^nothing here\nrequest_id: /);
});

test('applies the same lists to streams', async () => {
  const plugin = testPlugin(ipRestriction, { config: { allow: ['10.0.0.0/8'], deny: ['10.0.0.1'] } });
  const accepts = (ip: string): Promise<boolean> => plugin.accept({ client: { ip, port: 1 } });
  assert.equal(await accepts('10.0.0.2'), true);
  assert.equal(await accepts('10.0.0.1'), false);
  assert.equal(await accepts('192.0.2.1'), false);
});
