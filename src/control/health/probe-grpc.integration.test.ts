import assert from 'node:assert/strict';
import { createServer } from 'node:http2';
import { describe, it } from 'node:test';
import { Code, type Fields, Flag, Frame, frame, uint32 } from '../../../test/support/http2-frames.ts';
import { okHead, type RawSession, startRawHttp2Backend } from '../../../test/support/raw-http2-backend.ts';
import { until } from '../../../test/support/until.ts';
import { type ProbeResult, ProbeRun, type ProbeTarget } from './probe.ts';
import { probeGrpc } from './probe-grpc.ts';

const healthy = Buffer.from([0, 0, 0, 0, 2, 8, 1]);

/** The result of a probe of a target that answers with these frames. */
async function probe(
  answer: (session: RawSession, stream: number) => void,
  more: Partial<ProbeTarget> = {},
): Promise<ProbeResult> {
  await using backend = await startRawHttp2Backend({ request: answer });
  const { promise, resolve } = Promise.withResolvers<ProbeResult>();
  const timeout = more.timeout ?? 5_000;
  const run = new ProbeRun(timeout, resolve);
  const address = { ip: '127.0.0.1', port: backend.port, host: '127.0.0.1', authority: 'grpc.test' };
  probeGrpc(run, { ...address, path: '/', headers: [], tls: null, timeout, ...more });
  const result = await promise;
  // The connection is closed, whatever the result.
  await until(() => backend.sessions.every(({ socket }) => socket.readableEnded || socket.destroyed));
  return result;
}

const trailers: Fields = [['grpc-status', '0']];

describe('a gRPC probe', () => {
  it('succeeds when the health service answers that it serves', async () => {
    const result = await probe((session, stream) => {
      session.headers(stream, okHead);
      for (const byte of healthy) session.send(Frame.data, 0, stream, Buffer.from([byte]));
      session.headers(stream, trailers, true);
    });
    assert.deepEqual(result, { kind: 'success' });
  });

  it('sends the metadata that the check has, and none that could be more than that', async () => {
    const headers = [
      ['X-A', 'a'],
      ['X-B', 'b\r\nx-evil: 1'],
      ['Host', 'other.test'],
      ['Content-Length', '9'],
      ['grpc-timeout', '1H'],
    ] as const;
    const seen = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    const server = createServer((request, response) => {
      seen.resolve(request.headers);
      response.stream.respond({ ':status': 200, 'grpc-status': '5' }, { endStream: true });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as { port: number };
      const { promise, resolve } = Promise.withResolvers<ProbeResult>();
      const address = { ip: '127.0.0.1', port, host: '127.0.0.1', authority: 'grpc.test' };
      probeGrpc(new ProbeRun(5_000, resolve), { ...address, path: '/', headers, tls: null, timeout: 5_000 });
      assert.deepEqual(await promise, { kind: 'http-failure', cause: 'the gRPC status is 5' });
      const fields = await seen.promise;
      assert.deepEqual(Object.fromEntries(Object.entries(fields)), {
        ':method': 'POST',
        ':scheme': 'http',
        ':authority': 'grpc.test',
        ':path': '/grpc.health.v1.Health/Check',
        'content-type': 'application/grpc',
        'grpc-timeout': '5000m',
        'x-a': 'a',
        te: 'trailers',
      });
    } finally {
      server.close();
    }
  });

  const failures: readonly (readonly [string, RegExp, (session: RawSession, stream: number) => void])[] = [
    ['another HTTP status', /HTTP status is 503/, (s, id) => s.headers(id, [[':status', '503']], true)],
    ['no gRPC status', /not gRPC/, (s, id) => s.headers(id, okHead, true)],
    [
      'a gRPC status',
      /no grpc\.health\.v1\.Health/,
      (s, id) => s.headers(id, [...okHead, ['grpc-status', '12']], true),
    ],
    ['a head that is not valid', /head of the answer/, (s, id) => s.headers(id, [...okHead, ['X-A', '1']], true)],
    ['a head without a status', /head of the answer/, (s, id) => s.headers(id, trailers, true)],
    ['a reset', /reset \(error code 2\)/, (s, id) => s.send(Frame.rstStream, 0, id, uint32(Code.internalError))],
    ['a refusal', /GOAWAY/, (s) => s.send(Frame.goaway, 0, 0, Buffer.concat([uint32(0), uint32(Code.noError)]))],
    [
      'bytes that are no frame',
      /breaks HTTP\/2 \(error code/,
      (s) => s.socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    ],
    [
      'an answer that is too long',
      /too long/,
      (s, id) => {
        s.headers(id, okHead);
        s.socket.write(frame(Frame.data, 0, id, Buffer.alloc(1_025)));
      },
    ],
    [
      'informational answers without end',
      /informational/,
      (s, id) => {
        for (let at = 0; at < 100; at++) s.headers(id, [[':status', '103']]);
      },
    ],
    [
      'a head without end',
      /breaks HTTP\/2 \(error code 11\)/,
      (s, id) => {
        s.send(Frame.headers, 0, id, '');
        for (let at = 0; at < 100; at++) s.send(Frame.continuation, 0, id, '');
      },
    ],
    ['a push', /breaks HTTP\/2 \(error code 1\)/, (s, id) => s.send(Frame.pushPromise, Flag.endHeaders, id, uint32(2))],
  ];
  for (const [name, cause, answer] of failures) {
    it(`fails with ${name}`, async () => {
      const result = await probe(answer);
      assert.equal(result.kind, 'http-failure', JSON.stringify(result));
      assert.match((result as { cause: string }).cause, cause);
    });
  }

  it('times out when the target says nothing, or only answers pings', async () => {
    const silent = await probe(() => {}, { timeout: 200 });
    assert.deepEqual(silent, { kind: 'timeout', cause: 'no answer came within 200 ms' });
    const busy = await probe((s) => void s.send(Frame.ping, 0, 0, Buffer.alloc(8)), { timeout: 200 });
    assert.equal(busy.kind, 'timeout');
  });

  it('fails as TCP does when the target closes the connection', async () => {
    const result = await probe((session) => session.socket.destroy());
    assert.equal(result.kind, 'tcp-failure', JSON.stringify(result));
  });
});
