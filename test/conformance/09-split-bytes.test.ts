import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, type BackendConnection } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 9: how the network splits a message changes nothing. */
const messages: Readonly<Record<string, (id: string) => string>> = {
  'a request without a body': (id) =>
    `GET /split?id=${id} HTTP/1.1\r\nHost: example.com\r\nX-One: 1\r\nX-Two:  two \r\n\r\n`,
  'a request with a length': (id) =>
    `POST /split?id=${id} HTTP/1.1\r\nHost: example.com\r\nContent-Length: 12\r\n\r\nhello\r\n\r\nyou`,
  'a chunked request': (id) =>
    `POST /split?id=${id} HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n` +
    '5;x=y\r\nhello\r\n00a\r\n0123456789\r\n0\r\nX-Trailer: t\r\n\r\n',
};
const bodies: Readonly<Record<string, string>> = {
  'a request without a body': '',
  'a request with a length': 'hello\r\n\r\nyou',
  'a chunked request': 'hello0123456789',
};

/** Long enough that the gateway reads the two halves separately. All connections share this wait. */
const gap = 5;

describe('requests split at every byte', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  for (const [what, make] of Object.entries(messages)) {
    it(`reach the backend as one request: ${what}`, async () => {
      const cuts = Array.from({ length: make('000').length - 1 }, (_, index) => index + 1);
      await Promise.all(
        cuts.map(async (cut) => {
          const id = String(cut).padStart(3, '0');
          const bytes = make(id);
          using client = await openClient(rig.port);
          await client.send(bytes.slice(0, cut));
          await delay(gap);
          client.write(bytes.slice(cut));
          const response = await client.readResponse();
          assert.equal(response.status, 200, `cut at ${cut}`);
          const seen = rig.backend.requests.filter(
            (request) =>
              request.target === `/split?id=${id}` &&
              request.body === bodies[what] &&
              request.method === bytes.split(' ')[0],
          );
          assert.ok(seen.length >= 1, `cut at ${cut}: ${seen.length} requests at the backend`);
        }),
      );
      const method = make('000').split(' ')[0];
      const all = rig.backend.requests.filter((request) => request.method === method && request.body === bodies[what]);
      assert.equal(all.length, cuts.length);
    });

    it(`are accepted byte by byte: ${what}`, async () => {
      using client = await openClient(rig.port);
      for (const byte of make('abc')) await client.send(byte);
      const response = await client.readResponse();
      assert.equal(response.status, 200);
      assert.equal(rig.backend.requests.at(-1)?.body, bodies[what]);
    });
  }
});

const answers: Readonly<Record<string, string>> = {
  'with a length': answer('hello\r\n\r\nyou', 'X-One: 1\r\n'),
  chunked:
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n007\r\n\r\n\r\nyou\r\n0\r\nX-T: t\r\n\r\n',
  'after an informational one': `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answer('hello\r\n\r\nyou')}`,
};

async function answerInTwo(connection: BackendConnection): Promise<void> {
  for (;;) {
    const request = await connection.readRequest();
    const query = new URLSearchParams(request.target.split('?')[1]);
    const bytes = answers[query.get('answer') ?? ''] ?? answer('unknown');
    const cut = Number(query.get('cut'));
    connection.write(bytes.slice(0, cut));
    await delay(gap);
    connection.write(bytes.slice(cut));
  }
}

describe('answers split at every byte', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ script: answerInTwo });
  });
  after(() => rig.close());

  for (const [what, bytes] of Object.entries(answers)) {
    it(`reach the client as one answer: ${what}`, async () => {
      await Promise.all(
        Array.from({ length: bytes.length - 1 }, async (_, index) => {
          using client = await openClient(rig.port);
          const query = new URLSearchParams({ answer: what, cut: String(index + 1) });
          client.write(`GET /?${query} HTTP/1.1\r\nHost: example.com\r\n\r\n`);
          let response = await client.readResponse();
          while (response.status < 200) response = await client.readResponse();
          assert.equal(response.status, 200);
          assert.equal(response.body, 'hello\r\n\r\nyou');
          assert.equal(response.complete, true);
        }),
      );
      assert.deepEqual(rig.backend.scriptErrors, []);
    });
  }
});
