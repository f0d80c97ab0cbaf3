import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 42: a client that guesses credentials does not delay other clients. */

/** Hash of the password `pw`, cost 7. */
const bcrypt = '$2y$07$abcdefghijklmnopqrstuuCFlpO0olCyLqvMHx68hp6b20ts9hFQe';
const flood = 400;
const attacker = '127.0.0.2';

/** Answers each bind after a while: success for a password that contains `right`. */
function serveBinds(socket: Socket): void {
  socket.on('error', () => {});
  socket.on('data', (data) => {
    const id = data.subarray(2, 8);
    const code = data.includes('right') ? 0 : 49;
    const result = [0x61, 0x07, 0x0a, 0x01, code, 0x04, 0x00, 0x04, 0x00];
    const answer = Buffer.from([0x30, id.byteLength + result.length, ...id, ...result]);
    setTimeout(() => socket.writable && socket.write(answer), 30);
  });
}

describe('a flood of wrong credentials from one address', () => {
  let rig: Rig;
  let directory: Server;
  let introspection: TestBackend;
  before(async () => {
    directory = createServer(serveBinds).listen(0, '127.0.0.1');
    await once(directory, 'listening');
    introspection = await startBackend({
      handler: (request, response) => {
        let body = '';
        request.setEncoding('utf8').on('data', (piece: string) => {
          body += piece;
        });
        request.on('end', () => {
          setTimeout(() => response.end(JSON.stringify({ active: body.includes('right') })), 30);
        });
      },
    });
    rig = await startRig({
      settings: {
        plugins: ['basic-auth', 'ldap-auth', 'oauth2', 'oauth2-introspection'],
        trustedIps: ['127.0.0.0/8'],
        overloadLag: 0,
      },
    });
    const users = join(rig.gateway.prefix, 'users');
    await writeFile(users, `user:${bcrypt}\ngood:${bcrypt}\n`);
    const address = directory.address();
    assert.ok(address !== null && typeof address === 'object');
    const plugins = {
      'basic-auth': { credentials_file: users },
      'ldap-auth': { ldap_host: '127.0.0.1', ldap_port: address.port, base_dn: 'dc=test', attribute: 'uid' },
      oauth2: { enable_client_credentials: true, accept_http_if_already_terminated: true },
      'oauth2-introspection': { introspection_url: introspection.url, authorization_value: 'Bearer gateway' },
    };
    for (const [name, config] of Object.entries(plugins)) {
      await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
      await rig.write('POST', `/routes/${name}/plugins`, { name, config });
    }
    await rig.write('PUT', '/consumers/ada', {});
    const salt = Buffer.alloc(16, 7);
    const hash = scryptSync('right', salt, 32, { N: 2 ** 14, r: 8, p: 1, maxmem: 2 ** 26 });
    const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
    await rig.write('POST', '/consumers/ada/oauth2', {
      name: 'app',
      client_id: 'app',
      client_secret: `$scrypt$ln=14,r=8,p=1$${text(salt)}$${text(hash)}`,
      hash_secret: true,
    });
  });
  after(async () => {
    await rig.close();
    await introspection.close();
    directory.close();
  });

  const basic = (user: string, password: string): string => Buffer.from(`${user}:${password}`).toString('base64');
  const get = (path: string, authorization: string): string =>
    `GET /${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`;
  const tokenOf = (secret: string): string => {
    const body = `grant_type=client_credentials&client_id=app&client_secret=${secret}`;
    const type = 'Content-Type: application/x-www-form-urlencoded\r\nX-Forwarded-Proto: https';
    return `POST /oauth2/oauth2/token HTTP/1.1\r\nHost: a\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  /** Builds a request (null: with the right credentials), and how many guesses may be answered before it. */
  const cases: readonly (readonly [plugin: string, request: (guess: number | null) => string, maxBefore: number])[] = [
    [
      'basic-auth',
      (guess) => get('basic-auth', `Basic ${guess === null ? basic('good', 'pw') : basic('user', `wrong ${guess}`)}`),
      30,
    ],
    [
      'ldap-auth',
      (guess) => get('ldap-auth', `ldap ${guess === null ? basic('good', 'right') : basic('user', `guess ${guess}`)}`),
      60,
    ],
    ['oauth2', (guess) => tokenOf(guess === null ? 'right' : `guess${guess}`), 30],
    [
      'oauth2-introspection',
      (guess) => get('oauth2-introspection', `Bearer ${guess === null ? 'right' : `guess${guess}`}`),
      flood / 2,
    ],
  ];

  for (const [plugin, request, maxBefore] of cases) {
    it(`does not delay another client: ${plugin}`, async () => {
      const clients = await Promise.all(
        Array.from({ length: flood }, () => openClient(rig.port, { localAddress: attacker })),
      );
      const statuses: number[] = [];
      const guesses = clients.map(async (client, at) => {
        await client.send(request(at));
        statuses.push((await client.readResponse('GET', 60_000)).status);
        client.close();
      });
      using good = await openClient(rig.port);
      // Once one guess is answered, the queue is full of others.
      await Promise.race(guesses);
      const answeredBefore = statuses.filter((status) => status !== 503).length;
      const begin = performance.now();
      good.write(request(null));
      const { status } = await good.readResponse('GET', 60_000);
      const took = performance.now() - begin;
      const overtook = statuses.filter((one) => one !== 503).length - answeredBefore;
      await Promise.all(guesses);
      assert.equal(status, 200, `after ${took.toFixed(0)} ms`);
      assert.ok(overtook < maxBefore, `${overtook} guesses were answered first, in ${took.toFixed(0)} ms`);
      if (process.env['TIMES'] !== undefined) process.stderr.write(`${plugin}: ${took.toFixed(0)} ms, ${overtook}\n`);
    });
  }
});
