import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { RequestView } from '../records.ts';
import { curlCommand } from './curl-command.ts';

const run = promisify(execFile);

const plain: RequestView = {
  method: 'GET',
  scheme: 'http',
  host: 'api.test',
  path_as_sent: '/users/42',
  path: '/users/42',
  query: null,
  http_version: '1.1',
  headers: { host: 'api.test' },
  body: 'none',
  client: { ip: '127.0.0.1', because: '' },
  connection: { peer_ip: '127.0.0.1', peer_port: 1, local_port: 1, tls: null },
};

interface Seen {
  readonly message: IncomingMessage;
  readonly body: string;
}

/** Runs the command with the shell and the curl of the machine. */
async function sent(request: Partial<RequestView>): Promise<Seen> {
  const { promise, resolve } = Promise.withResolvers<Seen>();
  const server = createServer(async (message, response) => {
    let body = '';
    for await (const piece of message.setEncoding('utf8')) body += piece;
    response.end('ok');
    resolve({ message, body });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as AddressInfo;
    const { command } = curlCommand({ ...plain, ...request }, { host: '127.0.0.1', port });
    await run('sh', ['-c', command], { timeout: 10_000 });
    return await promise;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('a request as a curl command', { timeout: 60_000 }, () => {
  test('sends the same request', async () => {
    const headers = { host: 'api.test', 'x-list': ['one', 'two'], 'x-empty': '', 'user-agent': 'me', accept: 'x/y' };
    const { message } = await sent({ method: 'PURGE', path_as_sent: '/a/../b', query: 'x[]={1,2}&y=%20', headers });
    assert.equal(message.method, 'PURGE');
    assert.equal(message.url, '/a/../b?x[]={1,2}&y=%20');
    assert.deepEqual(message.rawHeaders.map((text) => text.toLowerCase()).toSorted(), [
      ...['', 'accept', 'api.test', 'host', 'me', 'one', 'two', 'user-agent', 'x-empty', 'x-list', 'x-list', 'x/y'],
    ]);
  });

  test('adds no header of its own', async () => {
    const { message } = await sent({ headers: { host: 'api.test' } });
    assert.deepEqual(message.rawHeaders, ['Host', 'api.test']);
  });

  test('sends a body as it is', async () => {
    const text = '@/etc/passwd\n\'"$(id)`id`\\ !x\tend\n';
    const headers = { host: 'api.test', 'content-type': 'text/plain', 'content-length': '999' };
    const { message, body } = await sent({ method: 'POST', headers, body: { text, truncated: false } });
    assert.equal(body, text);
    assert.equal(message.headers['content-type'], 'text/plain');
    assert.equal(message.headers['content-length'], String(text.length));
  });

  test('a HEAD request waits for no body', async () => {
    assert.equal((await sent({ method: 'HEAD' })).message.method, 'HEAD');
  });

  test('attack: no byte of a request leaves its quotes, becomes an option, or names a file', async () => {
    const hostile = [
      `'; touch /tmp/never; '`,
      '$(touch /tmp/never)',
      '`touch /tmp/never`',
      `'"'"'`,
      '\\',
      "\\'",
      '!!',
      '@/etc/passwd',
      '--output /tmp/never',
      '-K /etc/passwd',
      '%0a%00',
      '&& id; | id > /tmp/never # *',
      '{a,b}[1-9]',
    ];
    for (const value of hostile) {
      const query = value.replaceAll(' ', '+').replaceAll('#', '%23');
      const { message } = await sent({
        query,
        headers: { host: 'api.test', 'x-hostile': value },
        path_as_sent: `/${query.replaceAll('?', '')}`,
      });
      assert.equal(message.headers['x-hostile'], value);
      assert.equal(message.url, `/${query}?${query}`);
    }
  });

  test('attack: bytes that a terminal or a header would obey are not in the command', () => {
    const bytes = '\u0000\u0003\r\nX: y\u001b[201~\u202e\u2028';
    const { command, missing } = curlCommand(
      {
        ...plain,
        method: `GET${bytes}`,
        host: `a${bytes}`,
        path_as_sent: `/${bytes}`,
        headers: { 'x-a': `v${bytes}`, [`x-b${bytes}`]: 'v', '@file': 'v' },
        body: { text: bytes },
      },
      { host: '127.0.0.1', port: 1 },
    );
    assert.doesNotMatch(command, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/);
    assert.ok(!/\nX: y/.test(command), command);
    assert.ok(!command.includes('@file'), command);
    assert.equal(missing.length, 5, missing.join('; '));
  });

  test('what is masked becomes a placeholder, which is named', () => {
    const { command, placeholders } = curlCommand(
      {
        ...plain,
        query: 'apikey=REDACTED&page=2',
        headers: { host: 'api.test', authorization: 'REDACTED', 'x-ok': 'v' },
      },
      { host: '127.0.0.1', port: 1 },
    );
    assert.deepEqual(placeholders, ['FILL_IN_apikey', 'FILL_IN_authorization']);
    assert.match(command, /apikey=FILL_IN_apikey&page=2/);
    assert.match(command, /'authorization: FILL_IN_authorization'/);
    assert.ok(!command.includes('REDACTED'));
  });

  test('a truncated or masked body is not sent as if it were whole', () => {
    const { command, missing } = curlCommand(
      { ...plain, method: 'POST', body: { text: 'begin', truncated: true } },
      { host: '127.0.0.1', port: 1 },
    );
    assert.ok(!command.includes('begin'));
    assert.match(command, /--data-binary '@FILL_IN_body_file'/);
    assert.match(missing.join(), /body/);
  });

  test('nor is one whose content coding was removed, one that is no text, or one that was left out', () => {
    const gzip = { host: 'api.test', 'content-encoding': 'gzip' };
    for (const request of [
      { headers: gzip, body: { text: 'decoded', truncated: false } },
      { body: { base64: 'AAEC', truncated: false } },
      { body: { reason: 'decoded: no memory' } },
      { body: '7 bytes' },
    ]) {
      const { command, missing } = curlCommand({ ...plain, ...request }, { host: '127.0.0.1', port: 1 });
      assert.match(command, /--data-binary '@FILL_IN_body_file'$/);
      assert.equal(missing.length, 1);
      assert.ok(!command.includes('decoded') && !command.includes('AAEC'), command);
    }
  });

  test('over TLS the server name is that of the request', () => {
    const tls = { version: 'TLSv1.3', server_name: 'api.test' };
    const { command } = curlCommand(
      { ...plain, scheme: 'https', http_version: '2', connection: { ...plain.connection, tls } },
      { host: '127.0.0.1', port: 8443 },
    );
    assert.match(command, /--connect-to '::127\.0\.0\.1:8443'/);
    assert.match(command, /--http2 /);
    assert.match(command, /'https:\/\/api\.test:8443\/users\/42'/);
  });
});
