import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Agent, get, type IncomingMessage, request } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { encodeMessage, grpcClient, unary } from './grpc.ts';

/** What the clients of one kind have done. */
export interface ClientLoad {
  readonly name: string;
  readonly failures: string[];
  requests: number;
  /** Resolves when the clients have ended. */
  readonly ended: Promise<void>;
}

/** Clients that send requests until they are stopped. Each failure is recorded with its reason. */
export class Clients {
  readonly loads: ClientLoad[] = [];
  #running = true;

  get running(): boolean {
    return this.#running;
  }

  /** Runs `step` again and again, in so many clients. A step that rejects is a failure. */
  add(name: string, count: number, step: (client: number) => Promise<void>): ClientLoad {
    const failures: string[] = [];
    const done = Promise.withResolvers<void>();
    const load: ClientLoad = { name, failures, requests: 0, ended: done.promise };
    const each = async (client: number): Promise<void> => {
      while (this.#running) {
        load.requests++;
        await step(client).catch((error: Error) => void failures.push(`${name}: ${error.message}`));
        await wait(20);
      }
    };
    void Promise.all(Array.from({ length: count }, (_, client) => each(client))).then(() => done.resolve());
    this.loads.push(load);
    return load;
  }

  /** Resolves when each kind has sent `count` requests more. */
  async progress(count: number): Promise<void> {
    const goals = this.loads.map((load) => ({ load, goal: load.requests + count }));
    const end = performance.now() + 20_000;
    while (goals.some(({ load, goal }) => load.requests < goal)) {
      if (performance.now() > end) throw new Error(`no progress: ${JSON.stringify(this.loads)}`);
      await wait(10);
    }
  }

  [Symbol.dispose](): void {
    this.#running = false;
  }

  async stop(): Promise<readonly string[]> {
    this.#running = false;
    await Promise.all(this.loads.map(({ ended }) => ended));
    return this.loads.flatMap(({ failures }) => failures);
  }
}

async function read(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return text;
}

/** HTTP/1.1, with the agent's connections or a new one for each request. */
export async function http1(port: number, agent: Agent | false, path = '/echo', host = '127.0.0.1'): Promise<void> {
  const sent = get({ port, host, path, agent });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await read(response);
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
}

/**
 * One session, replaced when the gateway sends GOAWAY, as clients do. Node's client refuses a stream by itself that it has queued and not
 * sent when the GOAWAY arrives, so a refused stream of such a session is sent again (RFC 9113, 8.7). Any other refusal is a failure.
 */
export function http2Client(
  port: number,
  { origin = `http://127.0.0.1:${port}`, path = '/echo' }: { readonly origin?: string; readonly path?: string } = {},
): { readonly step: () => Promise<void>; readonly close: () => void } {
  let session = open();
  function open(): ClientHttp2Session {
    const opened = connectHttp2(origin, { rejectUnauthorized: false });
    opened.on('error', () => {});
    opened.on('goaway', () => {
      if (session === opened) session = open();
    });
    return opened;
  }
  async function again(): Promise<void> {
    await wait(10);
    return step();
  }
  async function step(): Promise<void> {
    const used = session;
    // Node closes the session at the GOAWAY, and announces it afterwards.
    if (used.closed) return again();
    const stream = used.request({ ':path': path });
    let status: number | undefined;
    stream.on('response', (headers) => {
      status = headers[':status'];
    });
    let failure: Error | null = null;
    stream.on('error', (error) => {
      failure = error;
    });
    stream.resume();
    await new Promise<void>((resolve) => stream.once('close', resolve));
    const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM && status === undefined;
    if (refused && used.closed) return again();
    if (failure !== null) throw failure;
    if (stream.rstCode !== 0) throw new Error(`stream reset: ${stream.rstCode}`);
    if (status !== 200) throw new Error(`status ${status}`);
  }
  return { step, close: () => session.destroy() };
}

/** A channel of grpc-js. */
export function grpcCalls(port: number): { readonly step: () => Promise<void>; readonly close: () => void } {
  const client = grpcClient(port);
  return {
    async step() {
      const { error } = await unary(client, { text: 'a', data: encodeMessage({}), count: 1 });
      if (error !== null) throw new Error(`gRPC ${error.code}: ${error.details}`);
    },
    close: () => client.close(),
  };
}

/** A TCP stream of its own: sends a line and waits for its echo. */
export async function tcpStream(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write('line\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    if (String(answer) !== 'line\n') throw new Error(`echoed ${answer}`);
  } finally {
    socket.destroy();
  }
}

/** A datagram and its answer. */
export async function udpExchange(host: string, port: number): Promise<void> {
  const socket = createSocket('udp4');
  try {
    socket.send('ping', port, host);
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(5_000) })) as [Buffer];
    if (String(answer) !== 'ping') throw new Error(`answered ${answer}`);
  } finally {
    socket.close();
  }
}

/** A body that takes `milliseconds` to send; resolves to the answer. */
export async function slowUpload(port: number, milliseconds: number): Promise<string> {
  const sent = request({ port, host: '127.0.0.1', path: '/echo', method: 'POST', agent: false });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  const pieces = 20;
  for (let piece = 0; piece < pieces; piece++) {
    sent.write('x'.repeat(1000));
    await wait(milliseconds / pieces);
  }
  sent.end();
  const [response] = await answered;
  return await read(response);
}
