import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  Code,
  encodeFields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { type AttackedGateway, describeCost, startAttackedGateway } from './attacked-gateway.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/http2.md'), 'utf8');
const head = encodeFields(getFields('/good'));
const megabyte = 1_048_576;

/** The numbers of a row of the page: the figure, and what is added each second. */
function documented(limit: string): readonly [figure: number, rate: number] {
  const line = page.split('\n').find((each) => each.startsWith(`| ${limit} |`));
  const [figure, rate] = (line?.split('|')[2] ?? '').replaceAll(',', '').match(/\d+/g) ?? [];
  assert.notEqual(figure, undefined, `${limit} is not on the page`);
  return [Number(figure), Number(rate ?? 0)];
}

describe('the limits of an HTTP/2 connection are those of docs/http2.md', () => {
  let gateway: AttackedGateway;
  let client: FrameClient;
  before(async () => {
    gateway = await startAttackedGateway(
      byName({
        never() {},
        stalled: (connection) => void connection.socket.pause(),
        good: (connection) => connection.write(answer('ok')),
      }),
    );
  });
  after(() => gateway?.[Symbol.asyncDispose]());

  async function connected(): Promise<FrameClient> {
    client?.close();
    client = await gateway.open(false);
    return client;
  }

  /** How often `step` can be done before the connection ends; each is processed before the next. */
  async function countUntilEnd(limit: string, step: (at: number) => Promise<void>): Promise<void> {
    const [figure, rate] = documented(limit);
    const begun = performance.now();
    let count = 0;
    for (; !client.closed && client.goawayCode === null && count < 10 * figure; count++) await step(count);
    const seconds = (performance.now() - begun) / 1000;
    await client.until(() => client.closed);
    assert.ok([Code.enhanceYourCalm, null].includes(client.goawayCode as 11), `code ${client.goawayCode}`);
    // The last one ended it. A few tokens are for the beginning of the session.
    assert.ok(count >= figure - 4 && count <= figure + rate * seconds + 4, `${count} in ${seconds} s`);
  }

  it('streams at once', async () => {
    const [figure] = documented('streams at once');
    await connected();
    for (let at = 0; at <= figure; at++) client.request(2 * at + 1, getFields('/never'));
    assert.equal((await client.finished(2 * figure + 1)).code, Code.refusedStream);
    assert.equal(client.record(2 * figure - 1).code, null);
    assert.equal(client.peerSettings.get(3), figure);
  });

  it('refused streams', async () => {
    const [figure] = documented('streams at once');
    await connected();
    for (let at = 0; at < figure; at++) client.request(2 * at + 1, getFields('/never'));
    await countUntilEnd('refused streams', async (at) => {
      client.request(2 * (figure + at) + 1, getFields('/never'));
      await client.finished(2 * (figure + at) + 1);
    });
  });

  it('resets', async () => {
    await connected();
    const limit = 'streams that the client resets or makes the gateway reset, and malformed requests';
    await countUntilEnd(limit, async (at) => {
      const stream = 2 * at + 1;
      client.request(stream, getFields('/never'));
      client.write(frame(Frame.windowUpdate, 0, stream, uint32(0)));
      await client.finished(stream);
    });
  });

  it('frames that carry nothing', async () => {
    await connected();
    await countUntilEnd('frames that carry nothing', async () => {
      const { pongs } = client;
      client.write(frame(Frame.ping, 0, 0, '12345678'));
      await client.until(() => client.pongs > pongs || client.closed || client.goawayCode !== null);
    });
  });

  it('CONTINUATION frames of a head', async () => {
    const [figure] = documented('CONTINUATION frames of a head');
    for (const [count, served] of [
      [figure, true],
      [figure + 1, false],
    ] as const) {
      await connected();
      client.write(frame(Frame.headers, Flag.endStream, 1, head));
      for (let left = count - 1; left > 0; left--) client.write(frame(Frame.continuation, 0, 1));
      client.write(frame(Frame.continuation, Flag.endHeaders, 1));
      assert.equal((await client.finished(1)).status === 200, served, `${count} frames`);
    }
  });

  it('entries of a SETTINGS frame', async () => {
    const [figure] = documented('entries of a SETTINGS frame');
    for (const [count, served] of [
      [figure, true],
      [figure + 1, false],
    ] as const) {
      await connected();
      const entries = Array.from({ length: count }, (_, at) => [1_000 + at, 1] as const);
      client.write(frame(Frame.settings, 0, 0, settingsPayload(...entries)));
      client.request(1, getFields('/good'));
      assert.equal((await client.finished(1)).status === 200, served, `${count} entries`);
    }
  });

  it('bytes of a header list, of a body, and of all bodies', async () => {
    await connected();
    client.request(1, getFields('/good'));
    await client.finished(1);
    assert.equal(client.peerSettings.get(6), documented('bytes of a header list')[0]);
    assert.equal(client.peerSettings.get(4), documented('bytes of a body that its backend does not read')[0]);
    assert.equal(client.connectionWindow, documented('the same for all bodies')[0]);
  });

  it('bodies that no backend reads use no more memory than their windows', async (test) => {
    await connected();
    const [streams] = documented('streams at once');
    const [window] = documented('bytes of a body that its backend does not read');
    const post = getFields('/stalled').map(([name, value]) => [name, name === ':method' ? 'POST' : value] as const);
    const cost = await gateway.measure(async () => {
      for (let at = 0; at < streams; at++) {
        client.request(2 * at + 1, post, false);
        for (let left = window; left > 0; left -= 16_384)
          client.write(frame(Frame.data, 0, 2 * at + 1, Buffer.alloc(16_384)));
      }
      const { pongs } = client;
      client.write(frame(Frame.ping, 0, 0, '12345678'));
      await client.until(() => client.pongs > pongs);
    });
    test.diagnostic(describeCost(cost));
    assert.equal(client.goawayCode, null);
    // Kernel buffers take a part of it; the rest is twice in memory while it is copied.
    assert.ok(cost.memory < documented('the same for all bodies')[0] * 2 + 16 * megabyte, `${cost.memory} bytes`);
  });
});
