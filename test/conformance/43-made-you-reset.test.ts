import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openHttp2 } from '../support/http2-client.ts';
import {
  encodeFields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  openFrames,
  uint32,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, byName } from '../support/raw-backend.ts';

/**
 * Case 43, MadeYouReset (CVE-2025-8671): frames that make the server reset a stream, so that the client can open another one
 * while the backend still works for the first. Rapid Reset without RST_STREAM.
 */
const open = (client: FrameClient, stream: number, endStream = true): void =>
  client.request(stream, getFields('/never'), endStream);

const ways: Readonly<Record<string, (client: FrameClient, stream: number) => void>> = {
  'WINDOW_UPDATE of 0': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.windowUpdate, 0, stream, uint32(0)));
  },
  'a window above 2^31-1': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.windowUpdate, 0, stream, uint32(0x7fffffff)));
  },
  'WINDOW_UPDATE of a wrong length': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.windowUpdate, 0, stream, 'abc'));
  },
  'DATA on a half-closed stream': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.data, Flag.endStream, stream, 'x'));
  },
  'HEADERS on a half-closed stream': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.headers, 5, stream, encodeFields([['x-a', 'b']])));
  },
  'PRIORITY of a wrong length': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.priority, 0, stream, 'abc'));
  },
  'PRIORITY on itself': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.priority, 0, stream, Buffer.concat([uint32(stream), Buffer.from([1])])));
  },
  'HEADERS that depend on themselves': (client, stream) => {
    const priority = Buffer.concat([uint32(stream), Buffer.from([1])]);
    const block = Buffer.concat([priority, encodeFields(getFields('/never'))]);
    client.write(frame(Frame.headers, Flag.endStream | Flag.endHeaders | Flag.priority, stream, block));
  },
  'a frame larger than agreed': (client, stream) => {
    open(client, stream, false);
    client.write(frame(Frame.data, 0, stream, Buffer.alloc(16_385)));
  },
  'padding longer than its frame': (client, stream) => {
    open(client, stream, false);
    client.write(frame(Frame.data, Flag.padded, stream, Buffer.from([200, 1])));
  },
  'more DATA than declared': (client, stream) => {
    client.request(stream, getFields('/never', [['content-length', '1']]), false);
    client.write(frame(Frame.data, 0, stream, 'abc'));
  },
  'less DATA than declared': (client, stream) => {
    client.request(stream, getFields('/never', [['content-length', '9']]), false);
    client.write(frame(Frame.data, Flag.endStream, stream, 'abc'));
  },
  'trailers that do not end the stream': (client, stream) => {
    open(client, stream, false);
    client.write(frame(Frame.headers, Flag.endHeaders, stream, encodeFields([['x-a', 'b']])));
  },
  'trailers with a pseudo-header field': (client, stream) => {
    open(client, stream, false);
    client.write(frame(Frame.headers, 5, stream, encodeFields([[':path', '/x']])));
  },
  'trailers with an upper-case name': (client, stream) => {
    open(client, stream, false);
    client.write(frame(Frame.headers, 5, stream, encodeFields([['X-A', 'b']])));
  },
  'trailers without end': (client, stream) => {
    open(client, stream, false);
    client.write(
      frame(Frame.headers, 5, stream, encodeFields(Array.from({ length: 300 }, (_, at) => [`x-${at}`, 'v']))),
    );
  },
  'RST_STREAM of a wrong length': (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.rstStream, 0, stream, 'abc'));
  },
  RST_STREAM: (client, stream) => {
    open(client, stream);
    client.write(frame(Frame.rstStream, 0, stream, uint32(8)));
  },
};

describe('streams that a client makes the gateway reset', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({
      script: byName({ never() {}, good: (connection) => connection.write(answer('ok')) }),
    });
  });
  after(() => rig.close());

  for (const [what, way] of Object.entries(ways)) {
    it(`cost backends a bounded number of requests: ${what}`, async () => {
      await using other = await openHttp2(rig.port);
      const seen = rig.backend.requests.length;
      using client = await openFrames(rig.port);
      // One write for each read of the gateway, so that every stream begins before it is reset.
      for (let stream = 1; stream < 4_000 && !client.closed && client.goawayCode === null; stream += 2) {
        way(client, stream);
        if (stream % 20 === 1) await new Promise((resolve) => setImmediate(resolve));
      }
      const { status } = await other.request('/good');
      assert.equal(status, 200);
      const asked = rig.backend.requests.length - seen - 1;
      assert.ok(asked <= 300, `${asked} requests`);
      client.close();
      const open = rig.backend.connections.filter((connection) => connection.received.includes('/never'));
      await Promise.all(open.map((connection) => connection.closed));
    });
  }
});
