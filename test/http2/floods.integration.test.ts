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
import {
  type AttackCost,
  type AttackedGateway,
  describeCost,
  startAttackedGateway,
  writeAll,
  writeMany,
} from './attacked-gateway.ts';

/** Case 16: frames that carry nothing, sent as fast as the gateway reads. Each flood ends its connection. */
type Flood = (client: FrameClient) => Promise<void>;

const priority = Buffer.concat([uint32(0), Buffer.from([15])]);
const open = (client: FrameClient, stream: number): void => client.request(stream, getFields('/never'), false);

function flood(bytes: Uint8Array, times: number, prepare: (client: FrameClient) => void = () => {}): Flood {
  return async (client) => {
    prepare(client);
    await writeMany(client, bytes, times);
  };
}

const headWithoutEnd = frame(Frame.headers, Flag.endStream, 1, encodeFields(getFields('/never')));
const crumb = encodeFields([['x-a', 'b']]);

const floods: Readonly<Record<string, Flood>> = {
  SETTINGS: flood(frame(Frame.settings, 0, 0), 100_000),
  'SETTINGS that change the window of 128 streams': async (client) => {
    for (let stream = 1; stream < 256; stream += 2) open(client, stream);
    const down = frame(Frame.settings, 0, 0, settingsPayload([4, 0]));
    const up = frame(Frame.settings, 0, 0, settingsPayload([4, 1_000_000]));
    await writeMany(client, Buffer.concat([down, up]), 50_000);
  },
  'acknowledgements that nobody asked for': flood(frame(Frame.settings, Flag.ack, 0), 100_000),
  PING: flood(frame(Frame.ping, 0, 0, '12345678'), 100_000),
  'PING answers that nobody asked for': flood(frame(Frame.ping, Flag.ack, 0, '12345678'), 100_000),
  PRIORITY: flood(frame(Frame.priority, 0, 1, priority), 200_000),
  'PRIORITY of many streams': async (client) => {
    for (let turn = 0; turn < 100 && !client.closed; turn++) {
      const each = (at: number): Buffer => frame(Frame.priority, 0, 2 * (turn * 1000 + at) + 1, priority);
      await writeAll(client, Buffer.concat(Array.from({ length: 1000 }, (_, at) => each(at))));
    }
  },
  PRIORITY_UPDATE: flood(frame(0x10, 0, 0, Buffer.concat([uint32(1), Buffer.from('u=1')])), 200_000),
  'WINDOW_UPDATE of the connection': flood(frame(Frame.windowUpdate, 0, 0, uint32(1)), 200_000),
  'WINDOW_UPDATE of a stream': flood(frame(Frame.windowUpdate, 0, 1, uint32(1)), 200_000, (client) => open(client, 1)),
  'unknown frames': flood(frame(0x42, 0, 0), 200_000),
  'large unknown frames': flood(frame(0x42, 0xff, 1, Buffer.alloc(16_384)), 5_000),
  'empty DATA': flood(frame(Frame.data, 0, 1), 100_000, (client) => open(client, 1)),
  'DATA of padding only': flood(
    frame(Frame.data, Flag.padded, 1, Buffer.alloc(256, 255).fill(0, 1)),
    50_000,
    (client) => open(client, 1),
  ),
  'empty CONTINUATION': flood(frame(Frame.continuation, 0, 1), 100_000, (client) => client.write(headWithoutEnd)),
  'CONTINUATION of one byte': flood(frame(Frame.continuation, 0, 1, Buffer.from([0x82])), 100_000, (client) =>
    client.write(headWithoutEnd),
  ),
  'CONTINUATION of one field': flood(frame(Frame.continuation, 0, 1, crumb), 100_000, (client) =>
    client.write(headWithoutEnd),
  ),
  'CONTINUATION of 16 KiB': flood(
    frame(Frame.continuation, 0, 1, encodeFields([['x-a', 'v'.repeat(16_370)]])),
    5_000,
    (client) => client.write(headWithoutEnd),
  ),
  'empty HEADERS that begin a head': async (client) => {
    client.write(frame(Frame.headers, Flag.endStream, 1));
    await writeMany(client, frame(Frame.continuation, 0, 1), 100_000);
  },
  'RST_STREAM of a closed stream': flood(frame(Frame.rstStream, 0, 1, uint32(8)), 100_000, (client) => open(client, 1)),
  GOAWAY: flood(frame(Frame.goaway, 0, 0, Buffer.concat([uint32(0), uint32(Code.cancel)])), 100_000),
};

const megabyte = 1_048_576;

/** Codes that say what the client did. */
const codes: readonly (number | null)[] = [
  Code.enhanceYourCalm,
  Code.protocolError,
  Code.streamClosed,
  Code.compressionError,
  // The end of a connection may overtake what was sent on it.
  null,
];

describe('floods of frames end the connection, and another client is served', () => {
  let gateway: AttackedGateway;
  before(async () => {
    gateway = await startAttackedGateway(
      answerEach((request) => (request.target.startsWith('/never') ? null : answer('ok'))),
    );
  });
  after(() => gateway?.[Symbol.asyncDispose]());

  async function run(secure: boolean, write: Flood): Promise<AttackCost> {
    using client = await gateway.open(secure);
    const cost = await gateway.measure(async () => {
      await write(client);
      await client.until(() => client.closed);
    });
    assert.ok(codes.includes(client.goawayCode), `code ${client.goawayCode}`);
    assert.ok(cost.memory < 48 * megabyte, `${cost.memory} bytes`);
    assert.ok(cost.cpu < 2_000, `${cost.cpu} ms of CPU`);
    assert.ok(cost.requests <= 128, `${cost.requests} requests`);
    return cost;
  }

  for (const [at, [what, write]] of Object.entries(floods).entries()) {
    it(what, async (test) => test.diagnostic(describeCost(await run(false, write))));
    // TLS has the same session above it, so a few are enough there.
    if (at % 6 === 0) it(`${what}, over TLS`, async (test) => test.diagnostic(describeCost(await run(true, write))));
  }
});
