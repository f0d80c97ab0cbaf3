import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Random } from '../fuzz/random.ts';
import { Code, type FrameClient, openFrames, settingsPayload } from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, answerEach } from '../support/raw-backend.ts';
import { until } from '../support/until.ts';
import { deviations, type GeneratedSession, generateSession } from './session-generator.ts';

/** Sessions of near-valid frames, sent to the gateway and to node:http2: both must come to the same end. */
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 8);
const parallel = 8;
/** Milliseconds in which the slower side must come to the same end. */
const patience = 4_000;

/** How a session ended, as far as the other side decides it. */
interface Ending {
  /** `open`, or the code of GOAWAY. */
  readonly connection: string;
  /** Of each stream: `answered`, `refused` (reset, or 4xx), `waits`. Empty when the connection ended. */
  readonly streams: Readonly<Record<string, string>>;
}

/**
 * Where the gateway is right to differ. `ours`: the ending of the connection, or of the stream with the deviation, that is expected of it
 * instead.
 */
const explained: Readonly<Record<string, { readonly why: string; readonly ours: RegExp }>> = {
  'WINDOW_UPDATE of 0 on a stream': { why: 'RFC 9113 6.9: a stream error', ours: /^open 1:refused/ },
  'PRIORITY of a wrong length': { why: 'RFC 9113 6.3: a stream error', ours: /^open 1:refused/ },
  'PRIORITY on itself': {
    why: 'RFC 9113 5.3 deprecates priorities; nghttp2 ignores the frame',
    ours: /^open 1:(?:refused|waits)/,
  },
  'PRIORITY on stream 0': { why: 'RFC 9113 6.3: a connection error; nghttp2 ignores the frame', ours: /^ended 1$/ },
  'HEADERS of a lower stream': { why: 'stream 1 is half-closed (RFC 9113 5.1)', ours: /^ended 5$/ },
  'HEADERS that depend on themselves': {
    why: 'RFC 7540 5.3.1; RFC 9113 ignores priorities',
    ours: /^open .*[02468]:|^open /,
  },
  'a field with a control byte': { why: 'RFC 9113 8.2.1: malformed; nghttp2 drops the field', ours: /^open .*refused/ },
  'a name with an impossible byte': {
    why: 'RFC 9113 8.2.1: malformed; nghttp2 drops the field',
    ours: /^open .*refused/,
  },
};

function describeEnding({ connection, streams }: Ending): string {
  return [connection, ...Object.entries(streams).map(([stream, end]) => `${stream}:${end}`)].join(' ');
}

function endingOf(client: FrameClient, session: GeneratedSession): Ending {
  if (client.closed || client.goawayCode !== null) return { connection: `ended ${client.goawayCode}`, streams: {} };
  const streams: Record<string, string> = {};
  for (let stream = 1; stream <= session.last; stream += 2) {
    const record = client.streams.get(stream);
    if (session.raced.has(stream)) continue;
    if (record === undefined) streams[stream] = 'waits';
    else if (record.status >= 400 || (record.code !== null && record.code !== Code.noError))
      streams[stream] = 'refused';
    else streams[stream] = record.ended ? 'answered' : 'waits';
  }
  return { connection: 'open', streams };
}

describe('sessions of near-valid frames', () => {
  let rig: Http2Rig;
  let reference: Http2Server;
  before(async () => {
    rig = await startHttp2Rig({
      script: answerEach((request) => (request.target.startsWith('/never') ? null : answer('ok'))),
    });
    const settings = {
      maxConcurrentStreams: 128,
      initialWindowSize: 131_072,
      enableConnectProtocol: true,
      enablePush: false,
    };
    reference = createServer({ settings });
    reference.on('sessionError', () => {});
    reference.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => {});
      stream.resume();
      stream.on('end', () => {
        if (headers[':path'] === '/never' || stream.destroyed || stream.closed || stream.aborted) return;
        stream.respond({ ':status': 200 });
        stream.end('ok');
      });
    });
    reference.listen(0, '127.0.0.1');
    await once(reference, 'listening');
  });
  after(async () => {
    reference?.close();
    await rig?.close();
  });

  async function play(port: number, session: GeneratedSession, seed: number): Promise<FrameClient> {
    const client = await openFrames(port, settingsPayload([4, 100_000]));
    // Its acknowledgement could get into a header block.
    await client.until(() => client.settings > 0 || client.closed);
    const random = new Random(seed + 1);
    const bytes = Buffer.concat(session.frames);
    for (let at = 0; at < bytes.byteLength && !client.closed; ) {
      const size = random.once(3) ? 1 + random.int(20) : bytes.byteLength;
      client.write(bytes.subarray(at, at + size));
      at += size;
      if (random.once(2)) await nextTurn();
    }
    return client;
  }

  /** Plays a session on both sides. Returns what is wrong; null: nothing. */
  async function compare(seed: number): Promise<string | null> {
    const session = generateSession(seed);
    using ours = await play(rig.port, session, seed);
    using theirs = await play((reference.address() as AddressInfo).port, session, seed);
    const difference = explained[session.deviation];
    const right = (): boolean => {
      const mine = describeEnding(endingOf(ours, session));
      if (difference !== undefined) {
        const done = mine.startsWith('ended') || mine.includes(`${session.last}:answered`);
        return done && difference.ours.test(mine);
      }
      return (
        mine === describeEnding(endingOf(theirs, session)) &&
        (mine.startsWith('ended') || mine.includes(`${session.last}:answered`))
      );
    };
    try {
      await until(right, patience);
      return null;
    } catch {
      const [mine, other] = [ours, theirs].map((client) => describeEnding(endingOf(client, session)));
      const bytes = Buffer.concat(session.frames).toString('hex').slice(0, 2_000);
      return `seed ${seed}, ${session.deviation}: gateway "${mine}", node:http2 "${other}"; ${bytes}`;
    }
  }

  it('come to the same end as with node:http2', async (test) => {
    const first = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 30));
    test.diagnostic(`SEED=${first}`);
    const end = performance.now() + 1000 * seconds;
    const seen = new Map<string, number>();
    const found: string[] = [];
    let seed = first;
    while (performance.now() < end && found.length < 5) {
      const seeds = Array.from({ length: parallel }, () => seed++);
      for (const each of seeds)
        seen.set(generateSession(each).deviation, (seen.get(generateSession(each).deviation) ?? 0) + 1);
      for (const what of await Promise.all(seeds.map(compare))) if (what !== null) found.push(what);
    }
    test.diagnostic(`${seed - first} sessions, ${seen.size - 1} of ${Object.keys(deviations).length} deviations`);
    assert.deepEqual(found, [], `SEED=${first}`);
  });
});
