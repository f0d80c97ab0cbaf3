import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openHttp2 } from '../support/http2-client.ts';
import {
  encodeFields,
  type Fields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  openFrames,
  settingsPayload,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { residentMemory } from '../support/rig.ts';

/**
 * Case 45, the HTTP/2 bomb: one byte of a head names an entry of the dynamic table, so a small frame becomes a large head;
 * with a window of 0 the client never takes the answer, so the request stays in memory.
 */
const connections = 4;
const streams = 128;
const megabyte = 1024 * 1024;

/** Literal with incremental indexing (RFC 7541 6.2.1): it becomes entry 62. */
function indexed(name: string, value: string): Buffer {
  const literal = encodeFields([[name, value]]);
  literal[0] = 0x40;
  return literal;
}

const entry = Buffer.from([0x80 | 62]);

function times(count: number): Buffer {
  return Buffer.alloc(count, entry);
}

const bombs: Readonly<Record<string, { readonly name: string; readonly value: string; readonly count: number }>> = {
  'many small fields': { name: 'x-a', value: 'b', count: 60_000 },
  'many empty fields': { name: 'x-a', value: '', count: 60_000 },
  'many cookie crumbs': { name: 'cookie', value: 'a=b', count: 60_000 },
  'cookie crumbs just below the limit of fields': { name: 'cookie', value: 'a=b', count: 190 },
  'large fields below the limit of bytes': { name: 'x-a', value: 'v'.repeat(3_900), count: 7 },
  'large cookie crumbs below the limit of bytes': { name: 'cookie', value: `a=${'v'.repeat(3_900)}`, count: 7 },
  'large fields far above the limit of bytes': { name: 'x-a', value: 'v'.repeat(3_900), count: 16_000 },
};

function writeHead(client: FrameClient, stream: number, block: Buffer): void {
  for (let at = 0; at < block.byteLength; at += 16_384) {
    const last = at + 16_384 >= block.byteLength ? Flag.endHeaders : 0;
    const [type, flags] = at === 0 ? [Frame.headers, Flag.endStream | last] : [Frame.continuation, last];
    client.write(frame(type, flags, stream, block.subarray(at, at + 16_384)));
  }
}

describe('heads that expand when decoded', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({
      // Client and gateway share a thread here, so writing a flood delays both.
      settings: { sendTimeout: 1_000, overloadLag: 0 },
      script: byName({ good: (connection) => connection.write(answer('ok')) }),
    });
  });
  after(() => rig.close());

  for (const [what, { name, value, count }] of Object.entries(bombs)) {
    it(`use bounded memory, and others are served: ${what}`, async () => {
      await using other = await openHttp2(rig.port);
      assert.equal((await other.request('/good')).status, 200);
      const memory = residentMemory();
      const clients = await Promise.all(
        Array.from({ length: connections }, () => openFrames(rig.port, settingsPayload([4, 0]))),
      );
      const head: Fields = getFields('/good');
      for (const client of clients) {
        for (let turn = 0; turn < streams && !client.closed && client.goawayCode === null; turn++) {
          if (turn % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
          const first = turn === 0 ? indexed(name, value) : entry;
          writeHead(client, 1 + 2 * turn, Buffer.concat([encodeFields(head), first, times(count - 1)]));
        }
      }
      const served = await Promise.all(Array.from({ length: 20 }, () => other.request('/good')));
      assert.ok(served.every(({ status }) => status === 200));
      const grown = (residentMemory() - memory) / megabyte;
      // Each stream may hold one decoded head of the maximum size: no more than a few times that.
      assert.ok(grown < 192, `${grown} MB`);
      for (const client of clients) client.close();
    });
  }
});
