import {
  type Client,
  type ClientOptions,
  credentials,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs';

/** The service of the test backend. */
export const echoProto = `syntax = "proto3";
package echo.v1;
service Echo {
  rpc Unary (Message) returns (Message);
  rpc Collect (stream Message) returns (Message);
  rpc Count (Message) returns (stream Message);
  rpc Talk (stream Message) returns (stream Message);
}
message Message { string text = 1; bytes data = 2; int32 count = 3; }
`;

export interface EchoMessage {
  readonly text: string;
  readonly data: Buffer;
  readonly count: number;
}

const message = protobuf.parse(echoProto, { keepCase: true }).root.lookupType('echo.v1.Message');

export function encodeMessage(fields: Partial<EchoMessage>): Buffer {
  return Buffer.from(message.encode(message.create(fields)).finish());
}

export function decodeMessage(bytes: Uint8Array): EchoMessage {
  return message.toObject(message.decode(bytes), { defaults: true, bytes: Buffer }) as EchoMessage;
}

function method(name: string, requestStream: boolean, responseStream: boolean) {
  return {
    path: `/echo.v1.Echo/${name}`,
    originalName: name,
    requestStream,
    responseStream,
    requestSerialize: encodeMessage,
    requestDeserialize: decodeMessage,
    responseSerialize: encodeMessage,
    responseDeserialize: decodeMessage,
  };
}

export const echoService: ServiceDefinition = {
  unary: method('Unary', false, false),
  collect: method('Collect', true, false),
  count: method('Count', false, true),
  talk: method('Talk', true, true),
} as unknown as ServiceDefinition;

export interface GrpcBackend extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
}

/** A real gRPC server with these methods. `tls`: PEM texts. `port`: reuses the port of an earlier server. */
export async function startGrpcBackend(
  methods: UntypedServiceImplementation,
  tls: { readonly cert: string; readonly key: string } | null = null,
  options: ServerOptions = {},
  port = 0,
): Promise<GrpcBackend> {
  const server = new Server(options);
  server.addService(echoService, methods);
  const pair = tls === null ? [] : [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }];
  const security = tls === null ? ServerCredentials.createInsecure() : ServerCredentials.createSsl(null, pair);
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, security, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { port: bound, server, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

// biome-ignore lint/suspicious/noExplicitAny: methods of a generic client exist only at run time
export type EchoClient = Client & Record<'unary' | 'collect' | 'count' | 'talk', any>;

/** A client of the gateway, with prior knowledge. */
export function grpcClient(port: number, options: ClientOptions = {}): EchoClient & Disposable {
  const Echo = makeGenericClientConstructor(echoService, 'Echo');
  const client = new Echo(`127.0.0.1:${port}`, credentials.createInsecure(), options) as unknown as EchoClient;
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

export interface UnaryOutcome {
  readonly error: { readonly code: number; readonly details: string; readonly metadata: unknown } | null;
  readonly value: EchoMessage | null;
}

/** A unary call; `args`: the arguments of `client.unary` before its callback. */
export async function unary(client: EchoClient, ...args: unknown[]): Promise<UnaryOutcome> {
  return await new Promise((resolve) => {
    client.unary(...args, (error: UnaryOutcome['error'], value: EchoMessage | undefined) =>
      resolve({ error, value: value ?? null }),
    );
  });
}

/** All messages of a stream of answers, and how it ended. */
export async function readCall(
  call: NodeJS.ReadableStream,
): Promise<{ readonly messages: EchoMessage[]; readonly code: number }> {
  const messages: EchoMessage[] = [];
  call.on('data', (each: EchoMessage) => messages.push(each));
  call.on('error', () => {});
  const status = await new Promise<{ readonly code: number }>((resolve) => call.on('status', resolve));
  return { messages, code: status.code };
}
