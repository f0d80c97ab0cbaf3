import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { until } from './until.ts';

/** A line as a StatsD server parses it. */
export interface StatsdMetric {
  readonly name: string;
  readonly value: string;
  readonly type: string;
  /** Sample rate; 1 if the line has none. */
  readonly rate: number;
  readonly tags: Readonly<Record<string, string>>;
}

export type StatsdDialect = 'plain' | 'dogstatsd' | 'influxdb' | 'librato' | 'signalfx';

/** A receiver of StatsD lines over UDP and TCP, on the same port of 127.0.0.1. */
export interface StatsdServer extends AsyncDisposable {
  readonly port: number;
  /** Datagrams as received, and the bytes of each TCP connection. */
  readonly packets: readonly string[];
  /** Open TCP connections. */
  readonly connections: ReadonlySet<Socket>;
  readonly metrics: readonly StatsdMetric[];
  /** Waits for a metric of this name. */
  metric(name: string): Promise<StatsdMetric>;
  /** Waits until this many lines have arrived. */
  lines(count: number): Promise<readonly StatsdMetric[]>;
  forget(): void;
  close(): Promise<void>;
}

const types: ReadonlySet<string> = new Set(['c', 'g', 'h', 'm', 's', 'ms', 'd']);

/** Reads one line; throws on anything that is not in the dialect. */
export function parseStatsdLine(line: string, dialect: StatsdDialect): StatsdMetric {
  const fault = (what: string): Error => new Error(`${what}: ${JSON.stringify(line)}`);
  const match = /^([^:|]+):([^:|]+)\|([a-z]+)(?:\|@([0-9.]+))?(?:\|#([^|]*))?$/.exec(line);
  if (match === null) throw fault('not a line of statsd');
  const [, head = '', value = '', type = '', rate, dogTags] = match;
  if (!types.has(type)) throw fault('unknown type');
  if (dogTags !== undefined && dialect !== 'dogstatsd') throw fault('tags of another dialect');
  if (type !== 's' && !/^-?\d+(\.\d+)?$/.test(value)) throw fault('not a number');
  const [name, tags] = splitHead(head, dialect, dogTags, fault);
  if (!/^[^\s.,#=[\]@\p{Cc}]+(\.[^\s.,#=[\]@\p{Cc}]+)*$/u.test(name)) throw fault('not a name');
  const share = rate === undefined ? 1 : Number(rate);
  if (!(share > 0 && share <= 1)) throw fault('not a rate');
  return { name, value, type, rate: share, tags };
}

function splitHead(
  head: string,
  dialect: StatsdDialect,
  dogTags: string | undefined,
  fault: (what: string) => Error,
): [string, Record<string, string>] {
  if (dialect === 'plain') return [head, {}];
  if (dialect === 'dogstatsd') return [head, tagsOf(dogTags ?? '', ':', fault)];
  const marks = { influxdb: ',', librato: '#', signalfx: '[' } as const;
  const at = head.indexOf(marks[dialect]);
  if (at < 0) return [head, {}];
  const rest = head.slice(at + 1);
  if (dialect === 'signalfx' && !rest.endsWith(']')) throw fault('no end of tags');
  return [head.slice(0, at), tagsOf(dialect === 'signalfx' ? rest.slice(0, -1) : rest, '=', fault)];
}

function tagsOf(text: string, mark: string, fault: (what: string) => Error): Record<string, string> {
  const tags: Record<string, string> = {};
  if (text === '') return tags;
  for (const tag of text.split(',')) {
    const at = tag.indexOf(mark);
    if (at <= 0 || Object.hasOwn(tags, tag.slice(0, at))) throw fault(`bad tag ${tag}`);
    tags[tag.slice(0, at)] = tag.slice(at + 1);
  }
  return tags;
}

export async function startStatsdServer(dialect: StatsdDialect = 'plain', port = 0): Promise<StatsdServer> {
  const packets: string[] = [];
  const connections = new Set<Socket>();
  const tcp = createServer((socket) => {
    connections.add(socket);
    socket.setEncoding('utf8');
    const at = packets.push('') - 1;
    socket.on('data', (piece: string) => {
      packets[at] += piece;
    });
    socket.on('error', () => {});
    socket.on('close', () => connections.delete(socket));
  });
  tcp.listen(port, '127.0.0.1');
  await once(tcp, 'listening');
  const bound = (tcp.address() as AddressInfo).port;
  const udp = createSocket('udp4');
  udp.on('message', (message) => packets.push(message.toString()));
  udp.bind(bound, '127.0.0.1');
  await once(udp, 'listening');
  const metrics = (): StatsdMetric[] =>
    packets
      .join('\n')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parseStatsdLine(line, dialect));
  const close = (): Promise<void> => closeBoth(udp, tcp, connections);
  return {
    port: bound,
    packets,
    connections,
    get metrics() {
      return metrics();
    },
    async metric(name) {
      await until(() => metrics().some((metric) => metric.name === name));
      return metrics().find((metric) => metric.name === name) as StatsdMetric;
    },
    async lines(count) {
      await until(() => metrics().length >= count);
      return metrics();
    },
    forget() {
      packets.length = 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function closeBoth(udp: UdpSocket, tcp: Server, connections: ReadonlySet<Socket>): Promise<void> {
  await new Promise<void>((resolve) => udp.close(resolve));
  const closed = new Promise<void>((resolve) => void tcp.close(() => resolve()));
  for (const socket of connections) socket.destroy();
  await closed;
}
