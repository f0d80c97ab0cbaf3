import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 19: backends believe these headers because only the gateway can send them. */
const names = [
  'X-Consumer-Id',
  'X-Consumer-Username',
  'X-Consumer-Custom-Id',
  'X-Consumer-Groups',
  'X-Credential-Identifier',
  'X-Anonymous-Consumer',
  'X-Authenticated-Groups',
  'X-Authenticated-Userid',
  'X-Authenticated-Scope',
  'X-Userinfo',
];

describe('identity headers from a client', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  const spellings: Readonly<Record<string, (name: string) => string>> = {
    'as they are': (name) => name,
    'in lower case': (name) => name.toLowerCase(),
    'in upper case': (name) => name.toUpperCase(),
    'with underscores': (name) => name.replaceAll('-', '_'),
    'with one underscore': (name) => name.replace('-', '_'),
    'in upper case with underscores': (name) => name.toUpperCase().replaceAll('-', '_'),
  };
  for (const [how, spell] of Object.entries(spellings)) {
    it(`never reach a backend ${how}`, async () => {
      const lines = names.map((name) => `${spell(name)}: spoofed\r\n`).join('');
      const response = await exchangeOne(
        rig.port,
        `GET /identity HTTP/1.1\r\nHost: a\r\nX-First: 1\r\n${lines}X-Last: 1\r\n\r\n`,
      );
      assert.equal(response.status, 200);
      const request = rig.backend.requests.at(-1);
      assert.doesNotMatch(request?.raw ?? '', /spoofed/);
      assert.equal(request?.get('x-first'), '1');
      assert.equal(request?.get('x-last'), '1');
    });
  }

  it('never reach a backend in trailers', async () => {
    const trailers = names.map((name) => `${name}: spoofed\r\n`).join('');
    const response = await exchangeOne(
      rig.port,
      `POST /identity HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n${trailers}\r\n`,
    );
    assert.equal(response.status, 200);
    assert.doesNotMatch(rig.backend.requests.at(-1)?.trailers ?? '', /spoofed/);
  });

  it('a request id of the client is replaced, and httpoxy has no way in', async () => {
    await exchangeOne(rig.port, 'GET / HTTP/1.1\r\nHost: a\r\nX-Kong-Request-Id: mine\r\nProxy: http://evil/\r\n\r\n');
    const request = rig.backend.requests.at(-1);
    assert.equal(request?.all('x-kong-request-id').length, 1);
    assert.match(request?.get('x-kong-request-id') ?? '', /^[0-9a-f]{32}$/);
    assert.equal(request?.get('proxy'), undefined);
  });
});
