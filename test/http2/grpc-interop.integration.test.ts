import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import {
  compressionAlgorithms,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type StatusObject,
} from '@grpc/grpc-js';
import type { GrpcBackend } from '../support/grpc.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import {
  echoInitial,
  echoTrailing,
  type Payload,
  startCompressingService,
  startTestService,
  status,
  type TestClient,
  testService,
} from './grpc-test-service.ts';

const requestSizes: readonly number[] = [27_182, 8, 1_828, 45_904];
const responseSizes: readonly number[] = [31_415, 9, 2_653, 58_979];
const unlimited = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };

interface Outcome {
  readonly error: StatusObject | null;
  // biome-ignore lint/suspicious/noExplicitAny: messages of every type
  readonly value: any;
}

const body = (size: number): Payload => ({ body: Buffer.alloc(size) });
const size = (message: { readonly payload: Payload }): number => message.payload.body.byteLength;

/** gRPC's interoperability cases, through the gateway. Those for credentials of Google and for GET have no counterpart here. */
for (const secure of [false, true]) {
  describe(`gRPC interoperability, ${secure ? 'over TLS' : 'by prior knowledge'}`, () => {
    let backend: GrpcBackend;
    let compressing: Awaited<ReturnType<typeof startCompressingService>>;
    let rig: Http2Rig;
    let client: TestClient;
    before(async () => {
      backend = await startTestService();
      rig = await startHttp2Rig({
        service: { url: null, protocol: 'grpc', host: '127.0.0.1', port: backend.port, path: null },
        route: { protocols: ['grpc', 'grpcs'] },
      });
      compressing = await startCompressingService([31_415, 92_653]);
      const address = { protocol: 'grpc', host: '127.0.0.1', port: compressing.port };
      await rig.write('PUT', '/services/compressing', address);
      const route = { protocols: ['grpc', 'grpcs'], paths: ['/grpc.testing.CompressedService'], strip_path: false };
      await rig.write('PUT', '/services/compressing/routes/compressing', route);
      client = open();
    });
    after(async () => {
      client?.close();
      await rig?.close();
      await backend?.[Symbol.asyncDispose]();
      await compressing?.[Symbol.asyncDispose]();
    });

    function open(options: object = {}): TestClient {
      const Service = makeGenericClientConstructor(testService, 'TestService');
      const trusted = Buffer.from(rig.gateway.settings.sslCert[0] ?? '');
      const channel = secure ? credentials.createSsl(trusted) : credentials.createInsecure();
      return new Service(`127.0.0.1:${secure ? rig.tlsPort : rig.port}`, channel, {
        ...unlimited,
        ...(secure ? { 'grpc.ssl_target_name_override': 'gateway.test' } : {}),
        ...options,
      }) as unknown as TestClient;
    }

    function call(name: keyof TestClient, message: object, ...args: readonly unknown[]): Promise<Outcome> {
      // biome-ignore lint/suspicious/noExplicitAny: a method of a generic client
      const method = client[name] as any;
      return new Promise((resolve) =>
        method.call(client, message, ...args, (error: StatusObject | null, value: unknown) =>
          resolve({ error, value }),
        ),
      );
    }

    function ended(stream: NodeJS.EventEmitter): Promise<StatusObject> {
      stream.on('error', () => {});
      // Not `once` of node:events, which rejects at an error.
      return new Promise((resolve) => stream.once('status', resolve));
    }

    it('empty_unary', async () => {
      assert.deepEqual(await call('emptyCall', {}), { error: null, value: {} });
    });

    it('large_unary', async () => {
      const { error, value } = await call('unaryCall', { response_size: 314_159, payload: body(271_828) });
      assert.equal(error, null);
      assert.equal(size(value), 314_159);
    });

    for (const [name, sizes] of [
      ['client_compressed_unary', [271_828]],
      ['client_compressed_streaming', [27_182, 45_904]],
    ] as const) {
      it(name, async () => {
        const compressed = open({ 'grpc.default_compression_algorithm': compressionAlgorithms.gzip });
        const done = Promise.withResolvers<number>();
        if (name === 'client_compressed_unary') {
          compressed.unaryCall(
            { response_size: 314_159, payload: body(sizes[0]) },
            (error: Error | null, value: { payload: Payload }) =>
              error === null ? done.resolve(size(value)) : done.reject(error),
          );
        } else {
          const stream = compressed.streamingInputCall(
            (error: Error | null, value: { aggregated_payload_size: number }) =>
              error === null ? done.resolve(value.aggregated_payload_size) : done.reject(error),
          );
          for (const each of sizes) stream.write({ payload: body(each) });
          stream.end();
        }
        assert.equal(await done.promise, name === 'client_compressed_unary' ? 314_159 : 73_086);
        compressed.close();
      });
    }

    it('server_compressed_unary', async () => {
      const { error, value } = await call('compressedUnary', {});
      assert.equal(error, null);
      assert.equal(size(value), 31_415);
    });

    it('server_compressed_streaming', async () => {
      const stream = client.compressedOutput({});
      const sizes: number[] = [];
      stream.on('data', (message: { readonly payload: Payload }) => sizes.push(size(message)));
      assert.equal((await ended(stream)).code, status.OK);
      assert.deepEqual(sizes, [31_415, 92_653]);
    });

    it('client_streaming', async () => {
      const done = Promise.withResolvers<{ readonly aggregated_payload_size: number }>();
      const stream = client.streamingInputCall((error: Error | null, value: { aggregated_payload_size: number }) =>
        error === null ? done.resolve(value) : done.reject(error),
      );
      for (const each of requestSizes) stream.write({ payload: body(each) });
      stream.end();
      assert.equal((await done.promise).aggregated_payload_size, 74_922);
    });

    it('server_streaming', async () => {
      const stream = client.streamingOutputCall({ response_parameters: responseSizes.map((each) => ({ size: each })) });
      const sizes: number[] = [];
      stream.on('data', (message: { readonly payload: Payload }) => sizes.push(size(message)));
      assert.equal((await ended(stream)).code, status.OK);
      assert.deepEqual(sizes, responseSizes);
    });

    it('ping_pong', async () => {
      const stream = client.fullDuplexCall();
      const end = ended(stream);
      for (const [at, each] of requestSizes.entries()) {
        stream.write({ response_parameters: [{ size: responseSizes[at] }], payload: body(each) });
        const [message] = (await once(stream, 'data')) as [{ readonly payload: Payload }];
        assert.equal(size(message), responseSizes[at]);
      }
      stream.end();
      assert.equal((await end).code, status.OK);
    });

    it('empty_stream', async () => {
      const stream = client.fullDuplexCall();
      stream.on('data', () => assert.fail('a message'));
      stream.end();
      assert.equal((await ended(stream)).code, status.OK);
    });

    it('custom_metadata', async () => {
      const metadata = new Metadata();
      metadata.set(echoInitial, 'test_initial_metadata_value');
      metadata.set(echoTrailing, Buffer.from([0xab, 0xab, 0xab]));
      const unary = client.unaryCall({ response_size: 314_159, payload: body(271_828) }, metadata, () => {});
      const duplex = client.fullDuplexCall(metadata);
      duplex.write({ response_parameters: [{ size: 314_159 }], payload: body(271_828) });
      duplex.on('data', () => duplex.end());
      const heads = [unary, duplex].map((stream) => once(stream, 'metadata') as Promise<[Metadata]>);
      const ends = [unary, duplex].map(ended);
      for (const [head] of await Promise.all(heads)) {
        assert.deepEqual(head.get(echoInitial), ['test_initial_metadata_value']);
      }
      for (const { code, metadata: tail } of await Promise.all(ends)) {
        assert.equal(code, status.OK);
        assert.deepEqual(tail.get(echoTrailing), [Buffer.from([0xab, 0xab, 0xab])]);
      }
    });

    for (const [name, message] of [
      ['status_code_and_message', 'test status message'],
      ['special_status_message', '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n'],
    ] as const) {
      it(name, async () => {
        const response_status = { code: 2, message };
        const { error } = await call('unaryCall', { response_status });
        assert.deepEqual([error?.code, error?.details], [2, message]);
        const stream = client.fullDuplexCall();
        stream.on('data', () => {});
        stream.write({ response_status });
        stream.end();
        const { code, details } = await ended(stream);
        assert.deepEqual([code, details], [2, message]);
      });
    }

    it('unimplemented_method and unimplemented_service', async () => {
      for (const name of ['unimplementedCall', 'unimplementedServiceCall'] as const) {
        const { error } = await call(name, {});
        assert.equal(error?.code, status.UNIMPLEMENTED, name);
      }
    });

    it('cancel_after_begin', async () => {
      const stream = client.streamingInputCall(() => {});
      const end = ended(stream);
      stream.cancel();
      assert.equal((await end).code, status.CANCELLED);
    });

    it('cancel_after_first_response', async () => {
      const stream = client.fullDuplexCall();
      const end = ended(stream);
      stream.write({ response_parameters: [{ size: 31_415 }], payload: body(27_182) });
      await once(stream, 'data');
      stream.cancel();
      assert.equal((await end).code, status.CANCELLED);
    });

    it('timeout_on_sleeping_server', async () => {
      const stream = client.fullDuplexCall({ deadline: Date.now() + 1 });
      const end = ended(stream);
      stream.write({ payload: body(27_182) });
      assert.equal((await end).code, status.DEADLINE_EXCEEDED);
    });

    it('many calls at once share the connection and do not mix', async () => {
      const sizes = Array.from({ length: 100 }, (_, at) => at * 701);
      const all = await Promise.all(
        sizes.map((each) => call('unaryCall', { response_size: each, payload: body(each) })),
      );
      assert.deepEqual(
        all.map(({ value }) => size(value)),
        sizes,
      );
    });
  });
}
