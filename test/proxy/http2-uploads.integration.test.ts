import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openHttp2 } from '../support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer } from '../support/raw-backend.ts';

const clients = 4;
const streams = 2;
const uploads = clients * streams;
/** Bytes: more than the kernel keeps for a backend that does not read. */
const size = 9_000_003;

/** A worker gathers the data of all streams in one buffer, which the write to a backend takes. */
describe('HTTP/2 uploads', () => {
  const { promise: othersAnswered, resolve: release } = Promise.withResolvers<void>();
  let rig: Http2Rig;
  let answered = 0;
  before(async () => {
    rig = await startHttp2Rig({
      script: async (connection) => {
        // Each second backend reads nothing until the others have answered, so that writes to it have to wait.
        if (connection.serial % 2 === 1) {
          connection.socket.pause();
          await othersAnswered;
          connection.socket.resume();
        }
        const { body } = await connection.readRequest();
        connection.write(answer(digest(Buffer.from(body, 'latin1')), 'Connection: close\r\n'));
        if (++answered === uploads / 2) release();
      },
    });
  });
  after(() => rig.close());

  it('arrive unchanged when many clients send at the same time, with TLS and without', async () => {
    const opened = await Promise.all(
      Array.from({ length: clients }, (_, at) => (at % 2 === 0 ? openHttp2(rig.port) : openHttp2(rig.tlsPort, true))),
    );
    const sent = opened.flatMap((client, at) =>
      Array.from({ length: streams }, async (_, stream) => {
        const body = randomBytes(size);
        // Half of them declare no length: those reach the backend in chunks.
        const declared = stream % 2 === 0 ? { 'content-length': size } : {};
        const got = await client.request(`/${at}/${stream}`, { headers: { ':method': 'POST', ...declared }, body });
        assert.equal(got.status, 200, `stream ${stream} of client ${at}`);
        assert.equal(String(got.body), digest(body), `stream ${stream} of client ${at}`);
      }),
    );
    await Promise.all(sent);
    await Promise.all(opened.map((client) => client.close()));
  });
});

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
