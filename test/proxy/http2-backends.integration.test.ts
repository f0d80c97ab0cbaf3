import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Http2Answer, type Http2Client, openHttp2 } from '../support/http2-client.ts';
import { Code, Flag, Frame, frame } from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import {
  okHead,
  type RawHttp2Backend,
  type RawHttp2Options,
  startRawHttp2Backend,
} from '../support/raw-http2-backend.ts';
import { until } from '../support/until.ts';

const grpc = { protocol: 'grpc', host: '127.0.0.1' };

interface Trial extends AsyncDisposable {
  readonly backend: RawHttp2Backend;
  readonly client: Http2Client;
  call(): Promise<Http2Answer>;
}

let rig: Http2Rig;
before(async () => {
  rig = await startHttp2Rig({ route: { protocols: ['grpc'] }, service: { url: null, ...grpc, port: 1 } });
});
after(() => rig?.close());

/** The gateway between a client and a scripted backend; no retries. */
async function startTrial(options: RawHttp2Options, service: object = {}): Promise<Trial> {
  const backend = await startRawHttp2Backend(options);
  await rig.write('PUT', '/services/backend', { ...grpc, port: backend.port, retries: 0, ...service });
  const client = await openHttp2(rig.port);
  return {
    backend,
    client,
    call: () =>
      client.request('/a.B/C', {
        headers: { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' },
        body: 'xxxxx',
      }),
    async [Symbol.asyncDispose]() {
      await client.close();
      await backend[Symbol.asyncDispose]();
    },
  };
}

const grpcStatus = (answer: Http2Answer): unknown => answer.trailers['grpc-status'] ?? answer.headers['grpc-status'];

function goaway(last: number, code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(last, 0);
  payload.writeUInt32BE(code, 4);
  return payload;
}

function resetPayload(code: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code, 0);
  return payload;
}

function setting(id: number, value: number): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(id, 0);
  payload.writeUInt32BE(value, 2);
  return frame(Frame.settings, 0, 0, payload);
}

test('a refused stream is sent again, up to the retries of the service', async () => {
  let refusals = 0;
  await using trial = await startTrial(
    {
      request: (session, stream) => {
        if (refusals++ < 2) session.send(Frame.rstStream, 0, stream, resetPayload(Code.refusedStream));
        else session.answer(stream, 'fine!');
      },
    },
    { retries: 2 },
  );
  const answer = await trial.call();
  assert.equal(grpcStatus(answer), '0');
  assert.equal(String(answer.body), 'fine!');
  assert.equal(refusals, 3);
});

test('streams that a GOAWAY leaves unprocessed go to a new session, and do not count as attempts', async () => {
  await using trial = await startTrial({
    request: (session, stream, count) => {
      if (session.number === 1 && count === 2) session.send(Frame.goaway, 0, 0, goaway(1, Code.noError));
      else session.answer(stream, `${session.number}`);
    },
  });
  assert.equal(String((await trial.call()).body), '1');
  assert.equal(String((await trial.call()).body), '2');
});

test('streams that a backend may have processed are not sent again', async () => {
  let seen = 0;
  await using trial = await startTrial(
    {
      request: (session) => {
        seen++;
        session.socket.destroy();
      },
    },
    { retries: 5 },
  );
  assert.equal(grpcStatus(await trial.call()), '13');
  assert.equal(seen, 1);
});

test('a session has as many streams as the backend allows; further streams get another session', async () => {
  const waiting: (() => void)[] = [];
  await using trial = await startTrial({
    hello: setting(3, 2),
    request: (session, stream) => {
      waiting.push(() => session.answer(stream, 'x'));
      if (waiting.length === 6) for (const go of waiting) go();
    },
  });
  const answers = await Promise.all(Array.from({ length: 6 }, () => trial.call()));
  assert.ok(answers.every((answer) => grpcStatus(answer) === '0'));
  assert.equal(trial.backend.sessions.length, 3);
});

for (const [name, code] of [
  ['CANCEL', Code.cancel],
  ['NO_ERROR', Code.noError],
  ['INTERNAL_ERROR', Code.internalError],
] as const) {
  test(`an answer that ends with ${name} does not look complete`, async () => {
    await using trial = await startTrial({
      request: (session, stream) => {
        session.headers(stream, okHead);
        session.send(Frame.data, 0, stream, 'half');
        session.send(Frame.rstStream, 0, stream, resetPayload(code));
      },
    });
    const answer = await trial.call();
    assert.notEqual(answer.code, 0);
  });
}

test('a gRPC answer without trailers does not look complete', async () => {
  await using trial = await startTrial({
    request: (session, stream) => {
      session.headers(stream, okHead);
      session.send(Frame.data, Flag.endStream, stream, 'half');
    },
  });
  assert.notEqual((await trial.call()).code, 0);
});

const malformed: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['an upper-case name', [...okHead, ['X-A', 'b']]],
  ['a field of the connection', [...okHead, ['connection', 'close']]],
  ['a coding of the connection', [...okHead, ['transfer-encoding', 'chunked']]],
  ['no status', [['content-type', 'application/grpc']]],
  ['a status of HTTP/1.1 only', [[':status', '101']]],
  ['two lengths', [...okHead, ['content-length', '1'], ['content-length', '2']]],
  [
    'more bytes than a head may have',
    [...okHead, ...Array.from({ length: 30 }, (_, at) => [`x-${at}`, 'y'.repeat(1500)] as const)],
  ],
];

for (const [name, fields] of malformed) {
  test(`a head with ${name} causes an error of the gateway`, async () => {
    await using trial = await startTrial({
      request: (session, stream, count) => {
        if (session.number === 1 && count === 1) session.headers(stream, fields, true);
        else session.answer(stream, 'later');
      },
    });
    const answer = await trial.call();
    assert.equal(answer.status, 502);
    assert.equal(grpcStatus(answer), '13');
    assert.equal(answer.headers['set-cookie'], undefined);
    assert.equal(String((await trial.call()).body), 'later');
  });
}

test('a malformed answer does not affect other calls of its session', async () => {
  for (const broken of ['head', 'length', 'trailers'] as const) {
    let first = 0;
    await using trial = await startTrial({
      request: (session, stream, count) => {
        if (count === 1) {
          first = stream;
          return;
        }
        if (broken === 'head') session.headers(stream, [...okHead, ['X-A', 'b']], true);
        else {
          session.headers(stream, broken === 'length' ? [...okHead, ['content-length', '2']] : okHead);
          session.send(Frame.data, 0, stream, 'much more');
          session.headers(stream, [[':status', '200']], true);
        }
        setTimeout(() => session.answer(first, 'whole'), 50);
      },
    });
    const other = trial.call();
    await until(() => first > 0);
    const answer = await trial.call();
    assert.ok(answer.code !== 0 || answer.status === 502);
    assert.equal(String((await other).body), 'whole', broken);
    assert.equal(trial.backend.sessions.length, 1);
  }
});

test('a field with an ambiguous value is not forwarded', async () => {
  for (const value of ['b\r\nset-cookie: c=d', 'b\0c', 'b\nc']) {
    await using trial = await startTrial({
      request: (session, stream) => {
        session.headers(stream, [...okHead, ['x-a', value]]);
        session.headers(
          stream,
          [
            ['grpc-status', '0'],
            ['x-b', value],
          ],
          true,
        );
      },
    });
    const answer = await trial.call();
    for (const fields of [answer.headers, answer.trailers]) {
      for (const name of ['x-a', 'x-b', 'set-cookie']) assert.equal(fields[name], undefined);
    }
  }
});

test('a body of another length than declared is aborted', async () => {
  await using trial = await startTrial({
    request: (session, stream) => {
      session.headers(stream, [...okHead, ['content-length', '2']]);
      session.send(Frame.data, 0, stream, 'much more');
      session.headers(stream, [['grpc-status', '0']], true);
    },
  });
  const answer = await trial.call();
  assert.ok(answer.code !== 0 || answer.status === 502);
});

test('floods of informational answers, PING and SETTINGS end the session, and the next call is served', async () => {
  for (const flood of [
    (send: (bytes: Buffer) => void) => send(Buffer.concat(Array(5_000).fill(frame(Frame.ping, 0, 0, Buffer.alloc(8))))),
    (send: (bytes: Buffer) => void) => send(Buffer.concat(Array(5_000).fill(frame(Frame.settings, 0, 0)))),
  ]) {
    await using trial = await startTrial({
      request: (session, stream) => {
        if (session.number === 1) flood((bytes) => session.socket.write(bytes));
        else session.answer(stream, 'served');
      },
    });
    assert.equal((await trial.call()).status, 502);
    assert.equal(String((await trial.call()).body), 'served');
  }
  await using trial = await startTrial({
    request: (session, stream) => {
      for (let at = 0; at < 50; at++) session.headers(stream, [[':status', '103']]);
      session.answer(stream, 'late');
    },
  });
  assert.equal((await trial.call()).status, 502);
});

test('a backend that speaks HTTP/1.1, or nothing, causes an error', async () => {
  await using old = await startTrial({ hello: Buffer.from('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n') });
  assert.equal((await old.call()).status, 502);
  await using mute = await startTrial({ hello: null }, { connect_timeout: 150 });
  const answer = await mute.call();
  assert.equal(answer.status, 504);
  assert.equal(grpcStatus(answer), '4');
});

test('a session that stopped answering is not used again', async () => {
  await using trial = await startTrial(
    { request: (session, stream) => session.number > 1 && session.answer(stream, 'new') },
    { read_timeout: 150 },
  );
  assert.equal((await trial.call()).status, 504);
  assert.equal(String((await trial.call()).body), 'new');
});

test('an idle session is closed after the timeout', async () => {
  await using backend = await startRawHttp2Backend({ request: (session, stream) => session.answer(stream, 'x') });
  await using rig = await startHttp2Rig({
    service: { url: null, protocol: 'grpc', host: '127.0.0.1', port: backend.port },
    route: { protocols: ['grpc'] },
    settings: { upstreamKeepalive: { poolSize: 8, maxRequests: 2, idleTimeout: 100 } },
  });
  await using client = await openHttp2(rig.port);
  const call = (): Promise<Http2Answer> =>
    client.request('/a.B/C', { headers: { ':method': 'POST', 'content-type': 'application/grpc' }, body: 'xxxxx' });
  await call();
  await until(() => backend.sessions[0]?.socket.destroyed === true);
  for (let at = 0; at < 4; at++) assert.equal(grpcStatus(await call()), '0');
  // One session carries at most two requests.
  assert.ok(backend.sessions.length >= 3);
});
