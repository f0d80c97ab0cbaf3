import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import openId from './index.ts';

const home = 'http://test.example';
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** A provider that never responds to the code `junk`, and refuses every other one. */
async function slowProvider() {
  const held: ServerResponse[] = [];
  const server = createServer(async (request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (body.includes('code=junk')) {
      held.push(response);
      return;
    }
    response.setHeader('Content-Type', 'application/json');
    if (request.url === '/token') response.writeHead(400).end('{"error":"invalid_grant"}');
    else if (request.url === '/keys') {
      response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', use: 'sig' }] }));
    } else {
      response.end(
        JSON.stringify({
          issuer: origin,
          jwks_uri: `${origin}/keys`,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
        }),
      );
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

test('a client that repeats a callback with junk codes does not block the token endpoint for others', async () => {
  using provider = await slowProvider();
  const plugin = testPlugin(openId, {
    config: {
      issuer: provider.issuer,
      auth_methods: ['authorization_code', 'session'],
      client_id: ['gateway'],
      client_secret: ['a secret of the tests'],
      redirect_uri: [`${home}/callback`],
      session_secret: 'a secret of the tests, long enough to be one',
      timeout: 5_000,
    },
  });
  const login = async (clientIp: string) => {
    const { response } = await plugin.request({ path: '/page', headers: { Accept: 'text/html' }, clientIp });
    const cookie = (response.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
    const state = new URL(response.header('location') ?? '').searchParams.get('state') ?? '';
    return (code: string) =>
      plugin.request({ path: `/callback?code=${code}&state=${state}`, headers: { Cookie: cookie }, clientIp });
  };
  const hostile = await login('192.0.2.1');
  const other = await login('192.0.2.2');
  const junk = Array.from({ length: 400 }, () => hostile('junk'));
  await until(() => provider.held.length >= 32);
  assert.equal((await other('good')).response.status, 401, 'the provider was asked and refused the code');
  assert.equal(provider.held.length, 32, 'no more than its share is under way');
  const refused = await Promise.race(junk);
  assert.equal(refused.response.status, 503, 'what exceeds its share of the queue is refused at once');
  for (const response of provider.held) response.writeHead(400).end('{"error":"invalid_grant"}');
  const answering = setInterval(() => {
    for (const response of provider.held) if (!response.headersSent) response.writeHead(400).end('{"error":"x"}');
  }, 5);
  const statuses = (await Promise.all(junk)).map(({ response }) => response.status);
  clearInterval(answering);
  assert.equal(statuses.filter((status) => status === 401).length, 32 + 128);
  assert.equal(plugin.logLines.length, 1, JSON.stringify(plugin.logLines));
});
