import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openHttp2 } from '../support/http2-client.ts';
import {
  Code,
  encodeFields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  openFrames,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { residentMemory } from '../support/rig.ts';

/** Case 16: frames that cost the sender almost nothing. Each ends the session or is harmless; other clients are served. */
const floods: Readonly<Record<string, (client: FrameClient) => void>> = {
  SETTINGS: (client) => repeat(client, 20_000, frame(Frame.settings, 0, 0)),
  PING: (client) => repeat(client, 50_000, frame(Frame.ping, 0, 0, '12345678')),
  'empty DATA': (client) => {
    client.request(1, getFields('/never'), false);
    repeat(client, 50_000, frame(Frame.data, 0, 1));
  },
  CONTINUATION: (client) => {
    client.write(frame(Frame.headers, 0, 1, encodeFields(getFields('/'))));
    repeat(client, 50_000, frame(Frame.continuation, 0, 1, encodeFields([['x-a', 'v'.repeat(200)]])));
  },
  'empty CONTINUATION': (client) => {
    client.write(frame(Frame.headers, 0, 1, encodeFields(getFields('/'))));
    repeat(client, 50_000, frame(Frame.continuation, 0, 1));
  },
  'streams that are opened and reset': (client) => {
    for (let stream = 1; stream < 20_000; stream += 2) {
      client.request(stream, getFields('/never'));
      client.write(frame(Frame.rstStream, 0, stream, uint32(Code.cancel)));
    }
  },
  'streams that are opened and broken': (client) => {
    for (let stream = 1; stream < 20_000; stream += 2) {
      client.request(stream, getFields('/never', [['content-length', '1']]), false);
      client.write(frame(Frame.data, Flag.endStream, stream, 'too long'));
    }
  },
  'requests that are refused': (client) => {
    for (let stream = 1; stream < 20_000; stream += 2) client.request(stream, getFields('/', [['host', 'elsewhere']]));
  },
  'malformed requests': (client) => {
    for (let stream = 1; stream < 20_000; stream += 2) client.request(stream, getFields('/', [['connection', 'x']]));
  },
};

function repeat(client: FrameClient, times: number, bytes: Buffer): void {
  const many = Buffer.concat(Array.from({ length: 1000 }, () => bytes));
  for (let count = 0; count < times; count += 1000) client.write(many);
}

describe('floods of HTTP/2 frames', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({
      script: byName({ never() {}, good: (connection) => connection.write(answer('ok')) }),
    });
  });
  after(() => rig.close());

  for (const [what, flood] of Object.entries(floods)) {
    it(`end the session: ${what}`, async () => {
      await using other = await openHttp2(rig.port);
      const seen = rig.backend.requests.length;
      const memory = residentMemory();
      using client = await openFrames(rig.port);
      flood(client);
      const served = Promise.all(Array.from({ length: 20 }, () => other.request('/good')));
      await client.until(() => client.closed);
      if (client.goawayCode !== null) assert.notEqual(client.goawayCode, Code.noError);
      assert.ok((await served).every((got) => got.status === 200));
      assert.ok(residentMemory() - memory < 64 * 1024 * 1024);
      // Each reset could cost the backend a request; most never reach it.
      assert.ok(rig.backend.requests.length - seen < 1000, `${rig.backend.requests.length - seen} requests`);
    });
  }

  it('of WINDOW_UPDATE and of unknown frames do not affect other clients', async () => {
    await using other = await openHttp2(rig.port);
    using client = await openFrames(rig.port);
    client.request(1, getFields('/never'));
    repeat(client, 50_000, frame(Frame.windowUpdate, 0, 1, uint32(1)));
    repeat(client, 50_000, frame(0x42, 0, 0, 'x'));
    assert.equal((await other.request('/good')).status, 200);
  });

  it('get ENHANCE_YOUR_CALM when a client resets too many streams, and cancel its requests at the backend', async () => {
    using client = await openFrames(rig.port);
    for (let stream = 1; !client.closed && client.goawayCode === null; stream += 2) {
      client.request(stream, getFields('/never'));
      client.write(frame(Frame.rstStream, 0, stream, uint32(Code.cancel)));
      if (stream % 100 === 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await client.until(() => client.closed);
    // The end of a connection may overtake what was sent on it.
    assert.ok(client.goawayCode === Code.enhanceYourCalm || client.goawayCode === null);
    const asked = rig.backend.connections.filter((connection) => connection.received.includes('/never'));
    await Promise.all(asked.map((connection) => connection.closed));
  });

  it('do not include an ordinary number of resets and pings', async () => {
    using client = await openFrames(rig.port);
    for (let stream = 1; stream < 200; stream += 2) {
      client.request(stream, getFields('/never'));
      client.write(frame(Frame.rstStream, 0, stream, uint32(Code.cancel)), frame(Frame.ping, 0, 0, '12345678'));
    }
    client.request(201, getFields('/good'));
    assert.equal((await client.finished(201)).status, 200);
    assert.equal(client.goawayCode, null);
    await client.until(() => client.pongs === 100);
  });

  it('have streams above the limit refused while the others continue', async () => {
    using client = await openFrames(rig.port);
    for (let stream = 1; stream < 300; stream += 2) client.request(stream, getFields('/never'), false);
    await client.until(() => [...client.streams.values()].filter((record) => record.code !== null).length >= 22);
    assert.equal(client.streams.get(299)?.code, Code.refusedStream);
    assert.equal(client.streams.get(1)?.code ?? null, null);
    assert.equal(client.closed, false);
  });
});

describe('HTTP/2 clients that read nothing', () => {
  const size = 5_000_000;
  /** Shared by all connections, because backend and gateway share one process's memory. */
  const large = Buffer.alloc(size, 'x');
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({
      settings: { sendTimeout: 1_000 },
      script: byName({
        small: (connection) => connection.write(answer('x'.repeat(10_000))),
        large: (connection) => {
          connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
          connection.write(large);
        },
      }),
    });
  });
  after(() => rig.close());

  for (const what of ['small', 'large']) {
    it(`lose their stream after a timeout: a ${what} answer and a window of 0`, async () => {
      const memory = residentMemory();
      using client = await openFrames(rig.port, settingsPayload([4, 0]));
      for (let stream = 1; stream < 100; stream += 2) client.request(stream, getFields(`/${what}`));
      for (let stream = 1; stream < 100; stream += 2) {
        const record = await client.finished(stream);
        assert.equal(record.code, Code.cancel);
        assert.equal(record.ended, false);
      }
      assert.ok(residentMemory() - memory < 96 * 1024 * 1024, 'answers were kept');
      // The session and its other streams continue.
      client.request(101, getFields('/small'));
      client.write(frame(Frame.windowUpdate, 0, 101, uint32(20_000)), frame(Frame.windowUpdate, 0, 0, uint32(20_000)));
      const record = await client.finished(101);
      assert.equal(record.bytes, 10_000);
      assert.equal(record.ended, true);
    });
  }
});
