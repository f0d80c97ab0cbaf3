import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** A received query. */
export interface Asked {
  readonly message: Buffer;
  /** Source port. */
  readonly port: number;
  readonly name: string;
  /** 1 A, 5 CNAME, 28 AAAA, 33 SRV. */
  readonly type: number;
  /** Sends bytes back to the client. */
  reply(message: Buffer): void;
  /** Sends them from another port. */
  replyFromElsewhere(message: Buffer): void;
}

/** A name server with the answers of the test: wrong, malformed, none. */
export interface HostileServer extends AsyncDisposable {
  readonly ip: string;
  readonly port: number;
  readonly asked: readonly Asked[];
  /** Over UDP; replaced at will. */
  answer: (asked: Asked) => void;
  /** Over TCP: the bytes to send, length included, and whether the connection then ends. Null: it is closed at once. */
  answerTcp: ((message: Buffer) => { readonly bytes: Buffer; readonly end: boolean }) | null;
}

export async function startHostileServer(answer: (asked: Asked) => void): Promise<HostileServer> {
  const asked: Asked[] = [];
  const elsewhere = createSocket('udp4');
  const { tcp, udp } = await bindBoth();
  const server: HostileServer = {
    ip: '127.0.0.1',
    port: udp.address().port,
    asked,
    answer,
    answerTcp: null,
    async [Symbol.asyncDispose]() {
      udp.close();
      elsewhere.close();
      tcp.close();
    },
  };
  udp.on('message', (message, { port, address }) => {
    const { name, end } = nameAt(message, 12);
    const one: Asked = {
      message,
      port,
      name,
      type: message.readUInt16BE(end),
      reply: (bytes) => udp.send(bytes, port, address),
      replyFromElsewhere: (bytes) => elsewhere.send(bytes, port, address),
    };
    asked.push(one);
    server.answer(one);
  });
  tcp.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const said = server.answerTcp?.(data.subarray(2)) ?? null;
      if (said === null) return socket.destroy();
      socket.write(said.bytes);
      if (said.end) socket.end();
      return undefined;
    });
  });
  return server;
}

async function bindBoth(): Promise<{ readonly tcp: Server; readonly udp: Socket }> {
  for (let tries = 1; ; tries++) {
    const tcp = createServer();
    const udp = createSocket('udp4');
    try {
      tcp.listen(0, '127.0.0.1');
      await once(tcp, 'listening');
      const address = tcp.address();
      udp.bind(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
      await once(udp, 'listening');
      return { tcp, udp };
    } catch (error) {
      tcp.close();
      if (tries === 5) throw error;
    }
  }
}

export interface TestRecord {
  readonly name: string;
  readonly type: number;
  readonly ttl?: number;
  readonly data: Buffer;
}

export interface TestAnswer {
  /** 0 no error, 2 server failure, 3 name error. */
  readonly code?: number;
  readonly truncated?: boolean;
  readonly answers?: readonly TestRecord[];
  readonly additional?: readonly TestRecord[];
}

/** A well-formed answer to a question. */
export function answerTo(
  question: Buffer,
  { code = 0, truncated = false, answers = [], additional = [] }: TestAnswer,
): Buffer {
  const header = Buffer.alloc(12);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (truncated ? 0x0200 : 0) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt16BE(additional.length, 10);
  const { end } = nameAt(question, 12);
  return Buffer.concat([header, question.subarray(12, end + 4), ...[...answers, ...additional].map(encodeRecord)]);
}

export function addressRecord(name: string, ip: string, ttl?: number): TestRecord {
  return { name, type: 1, data: Buffer.from(ip.split('.').map(Number)), ...(ttl === undefined ? {} : { ttl }) };
}

export function aliasRecord(name: string, target: string): TestRecord {
  return { name, type: 5, data: wireName(target) };
}

export function serviceRecord(name: string, target: string, port: number, weight = 1, priority = 1): TestRecord {
  const numbers = Buffer.alloc(6);
  numbers.writeUInt16BE(priority, 0);
  numbers.writeUInt16BE(weight, 2);
  numbers.writeUInt16BE(port, 4);
  return { name, type: 33, data: Buffer.concat([numbers, wireName(target)]) };
}

export function wireName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.alloc(1),
  ]);
}

function encodeRecord({ name, type, ttl = 60, data }: TestRecord): Buffer {
  const numbers = Buffer.alloc(10);
  numbers.writeUInt16BE(type, 0);
  numbers.writeUInt16BE(1, 2);
  numbers.writeUInt32BE(ttl, 4);
  numbers.writeUInt16BE(data.length, 8);
  return Buffer.concat([wireName(name), numbers, data]);
}

function nameAt(message: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = start;
  for (let size = message[at] as number; size !== 0; size = message[at] as number) {
    labels.push(message.toString('latin1', at + 1, at + 1 + size));
    at += size + 1;
  }
  return { name: labels.join('.'), end: at + 1 };
}
