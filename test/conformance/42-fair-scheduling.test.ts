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

/** Answers of a server, kept until `release`: a slow server whose speed does not depend on this machine. */
class HeldAnswers {
  #held: (() => void)[] | null = [];

  /** Sends at once when `held` is false, or after the release. */
  answer(held: boolean, send: () => void): void {
    if (held && this.#held !== null) this.#held.push(send);
    else send();
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const send of held) send();
  }
}

/** Success for a password that contains `right`; answers to other binds are held. */
function serveBinds(socket: Socket, guesses: HeldAnswers): void {
  socket.on('error', () => {});
  socket.on('data', (data) => {
    const id = data.subarray(2, 8);
    const right = data.includes('right');
    const result = [0x61, 0x07, 0x0a, 0x01, right ? 0 : 49, 0x04, 0x00, 0x04, 0x00];
    const answer = Buffer.from([0x30, id.byteLength + result.length, ...id, ...result]);
    guesses.answer(!right, () => socket.writable && socket.write(answer));
  });
}

describe('a flood of wrong credentials from one address', () => {
  let rig: Rig;
  let directory: Server;
  let introspection: TestBackend;
  const held = { 'ldap-auth': new HeldAnswers(), 'oauth2-introspection': new HeldAnswers() };
  before(async () => {
    directory = createServer((socket) => serveBinds(socket, held['ldap-auth'])).listen(0, '127.0.0.1');
    await once(directory, 'listening');
    introspection = await startBackend({
      handler: (request, response) => {
        let body = '';
        request.setEncoding('utf8').on('data', (piece: string) => {
          body += piece;
        });
        request.on('end', () => {
          const active = body.includes('right');
          held['oauth2-introspection'].answer(!active, () => response.end(JSON.stringify({ active })));
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
  /** Builds a request (null: with the right credentials). */
  type Build = (guess: number | null) => string;
  const sendGuesses = async (request: Build, statuses: number[]): Promise<readonly Promise<void>[]> => {
    const clients = await Promise.all(
      Array.from({ length: flood }, () => openClient(rig.port, { localAddress: attacker })),
    );
    return clients.map(async (client, at) => {
      await client.send(request(at));
      statuses.push((await client.readResponse('GET', 60_000)).status);
      client.close();
    });
  };

  // The hashes of guesses are checked here, so some may end before the good one has its turn.
  const checkedHere: readonly (readonly [plugin: string, request: Build])[] = [
    [
      'basic-auth',
      (guess) => get('basic-auth', `Basic ${guess === null ? basic('good', 'pw') : basic('user', `wrong ${guess}`)}`),
    ],
    ['oauth2', (guess) => tokenOf(guess === null ? 'right' : `guess${guess}`)],
  ];
  for (const [plugin, request] of checkedHere) {
    it(`does not delay another client: ${plugin}`, async () => {
      const statuses: number[] = [];
      const guesses = await sendGuesses(request, statuses);
      using good = await openClient(rig.port);
      // Once one guess is answered, the queue is full of others.
      await Promise.race(guesses);
      const answeredBefore = statuses.filter((status) => status !== 503).length;
      good.write(request(null));
      const { status } = await good.readResponse('GET', 60_000);
      const overtook = statuses.filter((one) => one !== 503).length - answeredBefore;
      await Promise.all(guesses);
      assert.equal(status, 200);
      assert.ok(overtook < 30, `${overtook} guesses were answered first`);
    });
  }

  // The answers to guesses are held, so the good one must not wait for any of them.
  const checkedElsewhere: readonly (readonly [plugin: keyof typeof held, request: Build])[] = [
    [
      'ldap-auth',
      (guess) => get('ldap-auth', `ldap ${guess === null ? basic('good', 'right') : basic('user', `guess ${guess}`)}`),
    ],
    [
      'oauth2-introspection',
      (guess) => get('oauth2-introspection', `Bearer ${guess === null ? 'right' : `guess${guess}`}`),
    ],
  ];
  for (const [plugin, request] of checkedElsewhere) {
    it(`does not delay another client: ${plugin}`, async () => {
      const statuses: number[] = [];
      const guesses = await sendGuesses(request, statuses);
      using good = await openClient(rig.port);
      // The first answer is a refusal: the queue of the attacker is full.
      await Promise.race(guesses);
      good.write(request(null));
      const { status } = await good.readResponse('GET', 60_000);
      const answered = statuses.filter((one) => one !== 503);
      held[plugin].release();
      await Promise.all(guesses);
      assert.equal(status, 200);
      assert.deepEqual(answered, [], 'no guess was answered before the good client');
      assert.ok(statuses.includes(401), 'guesses are answered in the end');
      assert.ok(statuses.includes(503), 'guesses beyond the queue of one client are refused');
    });
  }
});
