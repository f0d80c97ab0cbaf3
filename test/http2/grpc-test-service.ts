import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Client, type Metadata, Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { GrpcBackend } from '../support/grpc.ts';

/**
 * The service of gRPC's interoperability tests (grpc/grpc, doc/interop-test-descriptions.md), with the field numbers of its protocol
 * definition.
 */
const proto = `syntax = "proto3";
package grpc.testing;
message Empty {}
message BoolValue { bool value = 1; }
message Payload { int32 type = 1; bytes body = 2; }
message EchoStatus { int32 code = 1; string message = 2; }
message SimpleRequest {
  int32 response_type = 1; int32 response_size = 2; Payload payload = 3; BoolValue response_compressed = 6; EchoStatus response_status = 7;
  BoolValue expect_compressed = 8;
}
message SimpleResponse { Payload payload = 1; }
message StreamingInputCallRequest { Payload payload = 1; BoolValue expect_compressed = 2; }
message StreamingInputCallResponse { int32 aggregated_payload_size = 1; }
message ResponseParameters { int32 size = 1; int32 interval_us = 2; BoolValue compressed = 3; }
message StreamingOutputCallRequest {
  int32 response_type = 1; repeated ResponseParameters response_parameters = 2; Payload payload = 3; EchoStatus response_status = 7;
}
message StreamingOutputCallResponse { Payload payload = 1; }
`;

const { root } = protobuf.parse(proto, { keepCase: true });

export interface Payload {
  readonly body: Buffer;
}

interface EchoStatus {
  readonly code: number;
  readonly message: string;
}

interface OutputRequest {
  readonly response_parameters: readonly { readonly size: number }[];
  readonly response_status: EchoStatus | null;
}

function encode(type: string): (fields: object) => Buffer {
  const found = root.lookupType(`grpc.testing.${type}`);
  return (fields) => Buffer.from(found.encode(found.fromObject(fields)).finish());
}

function decode(type: string): (bytes: Uint8Array) => object {
  const found = root.lookupType(`grpc.testing.${type}`);
  return (bytes) => found.toObject(found.decode(bytes), { defaults: true, bytes: Buffer, arrays: true });
}

function method(service: string, name: string, input: string, output: string, streams: 'none' | 'in' | 'out' | 'both') {
  return {
    path: `/grpc.testing.${service}/${name}`,
    originalName: name,
    requestStream: streams === 'in' || streams === 'both',
    responseStream: streams === 'out' || streams === 'both',
    requestSerialize: encode(input),
    requestDeserialize: decode(input),
    responseSerialize: encode(output),
    responseDeserialize: decode(output),
  };
}

const served = {
  emptyCall: method('TestService', 'EmptyCall', 'Empty', 'Empty', 'none'),
  unaryCall: method('TestService', 'UnaryCall', 'SimpleRequest', 'SimpleResponse', 'none'),
  streamingOutputCall: method(
    'TestService',
    'StreamingOutputCall',
    'StreamingOutputCallRequest',
    'StreamingOutputCallResponse',
    'out',
  ),
  streamingInputCall: method(
    'TestService',
    'StreamingInputCall',
    'StreamingInputCallRequest',
    'StreamingInputCallResponse',
    'in',
  ),
  fullDuplexCall: method(
    'TestService',
    'FullDuplexCall',
    'StreamingOutputCallRequest',
    'StreamingOutputCallResponse',
    'both',
  ),
};

/** What clients may call: of the service, of the compressing one, and two that nobody serves. */
export const testService = {
  ...served,
  compressedUnary: method('CompressedService', 'Unary', 'SimpleRequest', 'SimpleResponse', 'none'),
  compressedOutput: method(
    'CompressedService',
    'Output',
    'StreamingOutputCallRequest',
    'StreamingOutputCallResponse',
    'out',
  ),
  unimplementedCall: method('TestService', 'UnimplementedCall', 'Empty', 'Empty', 'none'),
  unimplementedServiceCall: method('UnimplementedService', 'UnimplementedCall', 'Empty', 'Empty', 'none'),
} as unknown as ServiceDefinition;

// biome-ignore lint/suspicious/noExplicitAny: methods of a generic client, and calls of both directions, exist only at run time
type Call = any;

export type TestClient = Client &
  Record<
    keyof typeof served | 'compressedUnary' | 'compressedOutput' | 'unimplementedCall' | 'unimplementedServiceCall',
    Call
  >;

/** Names of metadata that the service sends back: in the head, and in the trailers. */
export const echoInitial = 'x-grpc-test-echo-initial';
export const echoTrailing = 'x-grpc-test-echo-trailing-bin';

function echoMetadata(call: Call): Metadata {
  const { metadata } = call as { readonly metadata: Metadata };
  const head = metadata.clone();
  for (const name of Object.keys(metadata.getMap())) if (name !== echoInitial) head.remove(name);
  if (metadata.get(echoInitial).length > 0) call.sendMetadata(head);
  const tail = metadata.clone();
  for (const name of Object.keys(metadata.getMap())) if (name !== echoTrailing) tail.remove(name);
  return tail;
}

const payload = (size: number): Payload => ({ body: Buffer.alloc(size) });

const methods = {
  emptyCall(_: Call, done: Call): void {
    done(null, {});
  },
  unaryCall(call: Call, done: Call): void {
    const trailers = echoMetadata(call);
    const { response_status, response_size } = call.request as {
      response_status: EchoStatus | null;
      response_size: number;
    };
    if (response_status !== null && response_status.code !== 0) {
      done({ code: response_status.code, details: response_status.message, metadata: trailers });
    } else done(null, { payload: payload(response_size) }, trailers);
  },
  streamingOutputCall(call: Call): void {
    for (const { size } of (call.request as OutputRequest).response_parameters) call.write({ payload: payload(size) });
    call.end();
  },
  streamingInputCall(call: Call, done: Call): void {
    let sum = 0;
    call.on('data', (request: { readonly payload: Payload }) => {
      sum += request.payload.body.byteLength;
    });
    call.on('end', () => done(null, { aggregated_payload_size: sum }));
  },
  fullDuplexCall(call: Call): void {
    const trailers = echoMetadata(call);
    call.on('data', ({ response_parameters, response_status }: OutputRequest) => {
      if (response_status !== null && response_status.code !== 0) {
        call.emit('error', { code: response_status.code, details: response_status.message, metadata: trailers });
        return;
      }
      for (const { size } of response_parameters) call.write({ payload: payload(size) });
    });
    call.on('end', () => call.end(trailers));
  },
};

/** A real gRPC server with the service. */
export async function startTestService(): Promise<GrpcBackend> {
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  server.addService(served as unknown as ServiceDefinition, methods);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { port, server, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

/** A server whose every answer is two messages of these sizes at most, the first one compressed. The servers of grpc-js compress nothing. */
export async function startCompressingService(
  sizes: readonly number[],
): Promise<Pick<GrpcBackend, 'port'> & AsyncDisposable> {
  const message = encode('SimpleResponse');
  const server = createServer((request, response) => {
    request.resume();
    const answered = request.url.endsWith('/Unary') ? sizes.slice(0, 1) : sizes;
    response.setHeader('content-type', 'application/grpc');
    response.setHeader('grpc-encoding', 'gzip');
    response.addTrailers({ 'grpc-status': '0' });
    for (const [at, size] of answered.entries()) {
      const bytes = message({ payload: payload(size) });
      const sent = at === 0 ? gzipSync(bytes) : bytes;
      const head = Buffer.alloc(5, at === 0 ? 1 : 0);
      head.writeUInt32BE(sent.byteLength, 1);
      response.write(Buffer.concat([head, sent]));
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

export { status };
