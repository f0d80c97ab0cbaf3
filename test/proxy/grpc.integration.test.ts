import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { type EchoMessage, grpcClient, readCall, startGrpcBackend, unary } from '../support/grpc.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';

type Call = ServerUnaryCall<EchoMessage, EchoMessage>;
type Done = sendUnaryData<Partial<EchoMessage>>;
// biome-ignore lint/suspicious/noExplicitAny: streams of both directions
type Stream = any;

const methods = {
  unary({ request }: Call, done: Done): void {
    done(null, { text: `${request.text}!`, count: request.count + 1 });
  },
  collect(call: Stream, done: Done): void {
    const texts: string[] = [];
    call.on('data', (each: EchoMessage) => texts.push(each.text));
    call.on('end', () => done(null, { text: texts.join(' '), count: texts.length }));
  },
  count(call: Stream): void {
    for (let at = 1; at <= call.request.count; at++) call.write({ count: at });
    call.end();
  },
  talk(call: Stream): void {
    call.on('data', (each: EchoMessage) => call.write({ text: each.text.toUpperCase() }));
    call.on('end', () => call.end());
  },
};

async function startGrpcRig(port: number, service: object = {}, route: object = {}): Promise<Http2Rig> {
  return await startHttp2Rig({
    service: { url: null, protocol: 'grpc', host: '127.0.0.1', port, path: null, ...service },
    route: { protocols: ['grpc', 'grpcs'], paths: ['/'], ...route },
  });
}

test('all four kinds of calls go through', async () => {
  await using backend = await startGrpcBackend(methods);
  await using rig = await startGrpcRig(backend.port);
  using client = grpcClient(rig.port);
  const one = await unary(client, { text: 'hello', count: 41 });
  assert.deepEqual(one.error, null);
  assert.equal(one.value?.text, 'hello!');
  assert.equal(one.value?.count, 42);

  const collected = await new Promise<EchoMessage>((resolve, reject) => {
    const call = client.collect((error: Error | null, value: EchoMessage) => (error ? reject(error) : resolve(value)));
    for (const text of ['a', 'b', 'c']) call.write({ text });
    call.end();
  });
  assert.equal(collected.text, 'a b c');

  const counted = await readCall(client.count({ count: 50 }));
  assert.equal(counted.code, status.OK);
  assert.deepEqual(
    counted.messages.map(({ count }) => count),
    Array.from({ length: 50 }, (_, at) => at + 1),
  );

  // Each side waits for the other: nothing may be held back on the way.
  const talk = client.talk();
  for (const text of ['one', 'two']) {
    talk.write({ text });
    const [answer] = (await once(talk, 'data')) as [EchoMessage];
    assert.equal(answer.text, text.toUpperCase());
  }
  talk.end();
  const [ended] = (await once(talk, 'status')) as [{ readonly code: number }];
  assert.equal(ended.code, status.OK);
});
