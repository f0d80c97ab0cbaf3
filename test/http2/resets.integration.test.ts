import assert from 'node:assert/strict';
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
import { answer, answerEach } from '../support/raw-backend.ts';
import { type AttackedGateway, describeCost, startAttackedGateway, writeAll } from './attacked-gateway.ts';

const megabyte = 1_048_576;
const whole = Flag.endStream | Flag.endHeaders;
const never = encodeFields(getFields('/never'));
const withLength = encodeFields(getFields('/never', [['content-length', '1']]));
const open = (stream: number): Buffer => frame(Frame.headers, whole, stream, never);
const half = (stream: number): Buffer => frame(Frame.headers, Flag.endHeaders, stream, never);

/**
 * Cases 16 and 43: what opens a stream and makes it end at once. The list of test/conformance/43-made-you-reset.test.ts has more ways;
 * here it is what they cost.
 */
const ways: Readonly<Record<string, (stream: number) => Buffer>> = {
  'RST_STREAM (Rapid Reset)': (stream) => Buffer.concat([open(stream), frame(Frame.rstStream, 0, stream, uint32(8))]),
  'WINDOW_UPDATE of 0': (stream) => Buffer.concat([open(stream), frame(Frame.windowUpdate, 0, stream, uint32(0))]),
  'PRIORITY of a wrong length': (stream) => Buffer.concat([open(stream), frame(Frame.priority, 0, stream, 'abcd')]),
  'PRIORITY on itself': (stream) =>
    Buffer.concat([open(stream), frame(Frame.priority, 0, stream, Buffer.concat([uint32(stream), Buffer.from([1])]))]),
  'HEADERS that depend on themselves': (stream) =>
    frame(Frame.headers, whole | Flag.priority, stream, Buffer.concat([uint32(stream), Buffer.from([1]), never])),
  'more DATA than declared': (stream) =>
    Buffer.concat([frame(Frame.headers, Flag.endHeaders, stream, withLength), frame(Frame.data, 0, stream, 'abc')]),
  'trailers that do not end the stream': (stream) =>
    Buffer.concat([half(stream), frame(Frame.headers, Flag.endHeaders, stream, encodeFields([['x-a', 'b']]))]),
  'DATA above the window of the stream': (stream) =>
    Buffer.concat([
      half(stream),
      ...Array.from({ length: 9 }, () => frame(Frame.data, 0, stream, Buffer.alloc(16_384))),
    ]),
  'malformed requests': (stream) => frame(Frame.headers, whole, stream, encodeFields([[':method', 'GET']])),
  'requests that are refused': (stream) =>
    frame(Frame.headers, whole, stream, encodeFields(getFields('/never', [['host', 'b']]))),
  'streams above the limit': (stream) => open(stream),
};

describe('streams that end as soon as they begin', () => {
  let gateway: AttackedGateway;
  before(async () => {
    gateway = await startAttackedGateway(
      answerEach((request) => (request.target.startsWith('/never') ? null : answer('ok'))),
    );
  });
  after(() => gateway?.[Symbol.asyncDispose]());

  async function attack(client: FrameClient, way: (stream: number) => Buffer): Promise<void> {
    for (let stream = 1; stream < 20_000 && !client.closed; stream += 2) await writeAll(client, way(stream));
    await client.until(() => client.closed);
  }

  for (const [at, [what, way]] of Object.entries(ways).entries()) {
    for (const secure of at % 4 === 0 ? [false, true] : [false]) {
      it(`end the connection: ${what}${secure ? ', over TLS' : ''}`, async (test) => {
        using client = await gateway.open(secure);
        const cost = await gateway.measure(() => attack(client, way));
        test.diagnostic(describeCost(cost));
        assert.ok(
          client.goawayCode === Code.enhanceYourCalm || client.goawayCode === null,
          `code ${client.goawayCode}`,
        );
        assert.ok(cost.requests <= 350, `${cost.requests} requests`);
        assert.ok(cost.memory < 48 * megabyte, `${cost.memory} bytes`);
        assert.ok(cost.cpu < 2_000, `${cost.cpu} ms of CPU`);
        // Whatever the backend still does for them is cancelled.
        const asked = gateway.backend.connections.filter((connection) => connection.received.includes('/never'));
        await Promise.all(asked.map((connection) => connection.closed));
      });
    }
  }

  it('cost no more than their share when the client connects again and again', async (test) => {
    const cost = await gateway.measure(async () => {
      for (let turn = 0; turn < 10; turn++) {
        using client = await gateway.open(false);
        await attack(client, ways['RST_STREAM (Rapid Reset)'] as (stream: number) => Buffer);
      }
    });
    test.diagnostic(describeCost(cost));
    assert.ok(cost.requests <= 10 * 250, `${cost.requests} requests`);
    assert.ok(cost.cpu < 5_000, `${cost.cpu} ms of CPU`);
  });

  it('are not the streams of a browser that leaves a page: 100 are cancelled and the next is served', async () => {
    using client = await gateway.open(false);
    for (let stream = 1; stream < 200; stream += 2) client.write(open(stream));
    for (let stream = 1; stream < 200; stream += 2)
      client.write(frame(Frame.rstStream, 0, stream, uint32(Code.cancel)));
    client.request(201, getFields('/good'));
    assert.equal((await client.finished(201)).status, 200);
    assert.equal(client.goawayCode, null);
  });

  it('are not those of downloads that are cancelled halfway at an ordinary pace', async () => {
    using client = await gateway.open(false, settingsPayload([4, 1]));
    for (let stream = 1; stream < 120; stream += 2) {
      client.request(stream, getFields('/good'));
      await client.until(() => client.record(stream).bytes > 0);
      client.write(frame(Frame.rstStream, 0, stream, uint32(Code.cancel)));
    }
    client.write(frame(Frame.settings, 0, 0, settingsPayload([4, 1000])));
    client.request(121, getFields('/good'));
    assert.equal((await client.finished(121)).ended, true);
  });
});
