import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  Code,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  openFrames,
  openSecureFrames,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, answerEach } from '../support/raw-backend.ts';
import { frameRules, get, open, ping, wait } from './frame-rules.ts';

/** More than the control frames that a connection may have, for a window of 1000 bytes. */
const largeSize = 800_000;

for (const secure of [false, true]) {
  describe(`rules for frames, ${secure ? 'over TLS' : 'by prior knowledge'}`, () => {
    let rig: Http2Rig;
    before(async () => {
      rig = await startHttp2Rig({
        script: answerEach(({ target }) => {
          if (target.startsWith('/never')) return null;
          return answer(target === '/large' ? 'x'.repeat(largeSize) : 'ok');
        }),
      });
    });
    after(() => rig?.close());

    const connect = (settings: Uint8Array | null = new Uint8Array(0)): Promise<FrameClient> =>
      secure ? openSecureFrames(rig.tlsPort, settings) : openFrames(rig.port, settings);

    async function greeted(settings?: Uint8Array): Promise<FrameClient> {
      const client = await connect(settings);
      await client.until(() => client.settings > 0);
      return client;
    }

    for (const [what, { first, bytes, expected }] of Object.entries(frameRules)) {
      it(what, async () => {
        using client = first ? await connect(null) : await greeted();
        client.write(...bytes);
        if (expected.kind === 'connection') {
          await client.until(() => client.closed);
          assert.ok(expected.codes.includes(client.goawayCode ?? -1), `code ${client.goawayCode}`);
          return;
        }
        const { status, code } = await client.finished(expected.stream);
        assert.equal(client.goawayCode, null);
        if (expected.kind === 'served') assert.equal(status, expected.status);
        // A malformed request may be answered instead.
        else assert.ok(expected.codes.includes(code ?? -1) || status === 400, `status ${status}, code ${code}`);
      });
    }

    it('a window of a stream that is too large resets the stream, too', async () => {
      using client = await greeted();
      client.write(wait(), frame(Frame.windowUpdate, 0, 1, uint32(0x7fffffff)));
      await client.until(() => client.closed);
      assert.equal(client.record(1).code, Code.flowControlError);
    });

    it('PING is answered with its bytes, also while streams wait', async () => {
      using client = await greeted();
      client.write(wait(1), ping);
      await client.until(() => client.pongs === 1);
    });

    it('SETTINGS are acknowledged, each once', async () => {
      using client = await greeted();
      for (let at = 0; at < 10; at++) client.write(frame(Frame.settings, 0, 0, settingsPayload([4, 1000 + at])));
      await client.until(() => client.settingsAcks === 11);
    });

    it('an answer respects a window of 1, and continues byte by byte', async () => {
      using client = await greeted(settingsPayload([4, 1]));
      client.write(get());
      await client.until(() => client.record(1).bytes === 1);
      assert.equal(client.record(1).ended, false);
      client.write(frame(Frame.windowUpdate, 0, 1, uint32(1)));
      const { bytes, ended: complete } = await client.finished(1);
      assert.deepEqual([bytes, complete], [2, true]);
    });

    it('a window that SETTINGS change applies to open streams', async () => {
      using client = await greeted(settingsPayload([4, 0]));
      client.write(get(), frame(Frame.settings, 0, 0, settingsPayload([4, 1])));
      await client.until(() => client.record(1).bytes === 1);
      client.write(frame(Frame.settings, 0, 0, settingsPayload([4, 0])));
      await client.until(() => client.settingsAcks >= 3);
      // The window is -1 now: an increment of 1 makes it 0.
      client.write(frame(Frame.windowUpdate, 0, 1, uint32(1)), ping);
      await client.until(() => client.pongs === 1);
      assert.equal(client.record(1).bytes, 1);
      client.write(frame(Frame.windowUpdate, 0, 1, uint32(1)));
      assert.equal((await client.finished(1)).bytes, 2);
    });

    it('a larger window is used behind the acknowledgement of its SETTINGS', async () => {
      using client = await greeted(settingsPayload([4, 0]));
      client.write(get());
      await client.until(() => client.record(1).status === 200);
      client.write(frame(Frame.settings, 0, 0, settingsPayload([4, 1000])));
      await client.finished(1);
      const data = client.received.indexOf(Frame.data);
      assert.ok(client.received.lastIndexOf(Frame.settings) < data, `${client.received}`);
    });

    it('a client with a small window reads a large answer', async () => {
      using client = await greeted(settingsPayload([4, 1000]));
      client.write(frame(Frame.windowUpdate, 0, 0, uint32(largeSize)));
      client.request(1, getFields('/large'));
      let opened = 0;
      while (!client.record(1).ended && !client.closed) {
        await client.until(() => client.record(1).bytes >= opened + 500 || client.record(1).ended || client.closed);
        const read = client.record(1).bytes - opened;
        opened += read;
        if (read > 0) client.write(frame(Frame.windowUpdate, 0, 1, uint32(read)));
      }
      assert.equal(client.goawayCode, null);
      assert.equal(client.record(1).bytes, largeSize);
    });

    it('streams above the limit are refused, and those below it are served', async () => {
      using client = await greeted();
      for (let stream = 1; stream <= 2 * 128 + 1; stream += 2) client.write(open(stream));
      assert.equal((await client.finished(257)).code, Code.refusedStream);
      client.write(frame(Frame.data, Flag.endStream, 1, 'x'));
      assert.equal((await client.finished(1)).status, 200);
    });

    it('HEAD gets no body', async () => {
      using client = await greeted();
      client.request(
        1,
        getFields('/good').map(([name, value]) => [name, name === ':method' ? 'HEAD' : value] as const),
      );
      const { status, bytes } = await client.finished(1);
      assert.deepEqual([status, bytes], [200, 0]);
    });
  });
}
