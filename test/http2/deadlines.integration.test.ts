import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  Code,
  encodeFields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  preface,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { type AttackedGateway, describeCost, startAttackedGateway } from './attacked-gateway.ts';

const megabyte = 1_048_576;
const large = Buffer.alloc(4 * megabyte, 'x');
/** Milliseconds of each timeout of the gateway, and how late an end may be on a busy machine. */
const timeout = 1_000;
const slack = 4_000;

/** Clients that begin something and do not continue. Each holds its memory for a bounded time, and others are served. */
describe('HTTP/2 clients that stall', () => {
  let gateway: AttackedGateway;
  /** Never acknowledges the SETTINGS of the gateway. */
  let unsettled: FrameClient;
  before(async () => {
    gateway = await startAttackedGateway(
      byName({
        never() {},
        good: (connection) => connection.write(answer('ok')),
        some: (connection) => connection.write(answer('x'.repeat(50_000))),
        large: (connection) => {
          connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large.byteLength}\r\n\r\n`);
          connection.write(large);
        },
      }),
      {
        KONG_NGINX_HTTP_CLIENT_HEADER_TIMEOUT: '1s',
        KONG_NGINX_HTTP_CLIENT_BODY_TIMEOUT: '1s',
        KONG_NGINX_HTTP_SEND_TIMEOUT: '1s',
        KONG_NGINX_HTTP_KEEPALIVE_TIMEOUT: '2s',
      },
    );
    unsettled = await gateway.open(false, null);
    unsettled.answers = false;
    unsettled.write(preface, frame(Frame.settings, 0, 0));
    unsettled.request(1, getFields('/never'));
  });
  after(async () => {
    unsettled?.close();
    await gateway?.[Symbol.asyncDispose]();
  });

  /** Milliseconds until the connection has ended. */
  async function lifetime(client: FrameClient): Promise<number> {
    const begun = performance.now();
    await client.until(() => client.closed, timeout + slack);
    return performance.now() - begun;
  }

  for (const secure of [false, true]) {
    const over = secure ? 'over TLS' : 'by prior knowledge';
    it(`lose the connection: a preface that arrives slowly, ${over}`, async () => {
      using client = await gateway.open(secure, null);
      client.answers = false;
      const ended = lifetime(client);
      for (const byte of preface) {
        if (client.closed) break;
        client.write(byte);
        await wait(100);
      }
      const took = await ended;
      assert.ok(took > timeout / 2, `${took} ms`);
    });

    it(`lose the connection: a preface without SETTINGS, ${over}`, async () => {
      using client = await gateway.open(secure, null);
      client.answers = false;
      client.write(preface);
      const took = await lifetime(client);
      assert.ok(took > timeout / 2, `${took} ms`);
    });

    it(`lose the connection: SETTINGS that arrive slowly, ${over}`, async () => {
      using client = await gateway.open(secure, null);
      client.answers = false;
      const ended = lifetime(client);
      client.write(preface);
      for (const byte of frame(Frame.settings, 0, 0, settingsPayload([3, 100], [4, 65_535]))) {
        if (client.closed) break;
        client.write(Buffer.from([byte]));
        await wait(200);
      }
      await ended;
    });
  }

  it('lose the connection: a head without end, also while an answer is sent', async () => {
    using client = await gateway.open(false, settingsPayload([4, 0x7fffffff]));
    client.write(frame(Frame.windowUpdate, 0, 0, uint32(0x7fff0000)));
    client.request(1, getFields('/never'));
    client.write(frame(Frame.headers, Flag.endStream, 3, encodeFields(getFields('/good'))));
    await lifetime(client);
  });

  it('lose the connection: a head that arrives byte by byte', async () => {
    using client = await gateway.open(false);
    const ended = lifetime(client);
    client.write(frame(Frame.headers, Flag.endStream, 1, encodeFields(getFields('/good'))));
    for (let at = 0; !client.closed; at++) {
      client.write(frame(Frame.continuation, 0, 1, at % 2 === 0 ? Buffer.from([0x10, 3]) : Buffer.from('x-a\0')));
      await wait(150);
    }
    await ended;
  });

  it('lose the connection: a frame that arrives byte by byte', async () => {
    using client = await gateway.open(false);
    const ended = lifetime(client);
    for (const byte of frame(Frame.headers, 5, 1, encodeFields(getFields('/slow-frame')))) {
      if (client.closed) break;
      client.write(Buffer.from([byte]));
      await wait(150);
    }
    await ended;
    assert.ok(!gateway.backend.received.includes('/slow-frame'));
  });

  it('get 408 for bodies that they never send, on every stream', async (test) => {
    using client = await gateway.open(false);
    const cost = await gateway.measure(async () => {
      for (let stream = 1; stream < 256; stream += 2)
        client.request(stream, getFields('/never', [['content-length', '1000000']]), false);
      for (let stream = 1; stream < 256; stream += 2) assert.ok((await client.finished(stream)).ended);
    });
    assert.equal(client.record(1).status, 408);
    test.diagnostic(describeCost(cost));
    assert.ok(cost.memory < 32 * megabyte, `${cost.memory} bytes`);
    client.request(257, getFields('/good'));
    assert.equal((await client.finished(257)).status, 200);
  });

  /** Windows that stop an answer: of the stream, and of the connection for all streams together. */
  const windows: Readonly<Record<string, Uint8Array>> = {
    'of 0 for each stream': settingsPayload([4, 0]),
    'of 1 for each stream': settingsPayload([4, 1]),
    'of the connection only': settingsPayload([4, 0x7fffffff]),
  };
  for (const [what, settings] of Object.entries(windows)) {
    it(`lose their streams: a window ${what}`, async (test) => {
      using client = await gateway.open(false, settings);
      const cost = await gateway.measure(async () => {
        for (let stream = 1; stream < 256; stream += 2) client.request(stream, getFields('/large'));
        for (let stream = 1; stream < 256; stream += 2) assert.equal((await client.finished(stream)).ended, false);
      });
      test.diagnostic(describeCost(cost));
      // 128 answers of 4 MiB stay where they are.
      assert.ok(cost.memory < 96 * megabyte, `${cost.memory} bytes`);
    });
  }

  it('use bounded memory when they open their windows by one byte at a time', async (test) => {
    using client = await gateway.open(false, settingsPayload([4, 1]));
    const cost = await gateway.measure(async () => {
      for (let stream = 1; stream < 256; stream += 2) client.request(stream, getFields('/large'));
      await client.until(() => client.record(255).bytes > 0 || client.closed);
      for (let turn = 0; turn < 20 && !client.closed; turn++) {
        const open = (at: number): Buffer => frame(Frame.windowUpdate, 0, 2 * at + 1, uint32(1));
        client.write(Buffer.concat(Array.from({ length: 128 }, (_, at) => open(at))));
        await wait(50);
      }
    });
    test.diagnostic(describeCost(cost));
    assert.ok(cost.memory < 96 * megabyte, `${cost.memory} bytes`);
    assert.ok(client.record(1).bytes < 100);
  });

  for (const [what, path, count] of [
    ['small', '/some', 3_000],
    ['large', '/large', 120],
  ] as const) {
    it(`use bounded memory, and are closed, when they never read the socket: ${what} answers`, async (test) => {
      using client = await gateway.open(false, settingsPayload([4, 0x7fffffff]));
      client.write(frame(Frame.windowUpdate, 0, 0, uint32(0x7fff0000)));
      client.socket.pause();
      const cost = await gateway.measure(async () => {
        for (let at = 0; at < count && !client.closed; at++) {
          client.request(2 * at + 1, getFields(path));
          // Fewer at once than the gateway allows.
          if (at % 30 === 29) await wait(path === '/some' ? 15 : 0);
        }
        // A paused socket does not see the end: writing does.
        for (let left = 100; left > 0 && !client.socket.destroyed; left--) {
          client.write(frame(Frame.ping, 0, 0, '12345678'));
          await wait(50);
        }
      });
      test.diagnostic(describeCost(cost));
      assert.ok(client.socket.destroyed, 'still open');
      assert.ok(cost.memory < 96 * megabyte, `${cost.memory} bytes`);
    });
  }

  it('use bounded memory when they never read the answers to PING and SETTINGS', async (test) => {
    using client = await gateway.open(false);
    client.socket.pause();
    const cost = await gateway.measure(async () => {
      const pings = Buffer.concat(Array.from({ length: 400 }, () => frame(Frame.ping, 0, 0, '12345678')));
      for (let left = 400; left > 0 && !client.socket.destroyed; left--) {
        client.write(pings);
        await wait(20);
      }
    });
    test.diagnostic(describeCost(cost));
    assert.ok(client.socket.destroyed, 'still open');
    assert.ok(cost.memory < 32 * megabyte, `${cost.memory} bytes`);
  });

  it('lose the connection: SETTINGS of the gateway that they never acknowledge, whatever they send', async () => {
    for (let stream = 3; !unsettled.closed && stream < 200; stream += 2) {
      unsettled.request(stream, getFields('/good'));
      await wait(100);
    }
    assert.ok(unsettled.closed);
    assert.equal(unsettled.goawayCode, Code.settingsTimeout);
  });
});
