import assert from 'node:assert/strict';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Settings } from '../../src/shared/settings/settings.ts';
import { type RawBackend, startRawBackend } from './raw-backend.ts';
import { openClient } from './raw-client.ts';
import { type StreamRig, startStreamRig } from './stream-rig.ts';

/** A log record, untyped. */
// biome-ignore lint/suspicious/noExplicitAny: the fields depend on the plugin.
export type SeenRecord = Record<string, any>;

/** A gateway with a route each for requests, TCP streams and UDP streams, whose backends answer. For log plugins. */
export interface LogRig extends AsyncDisposable {
  readonly rig: StreamRig;
  readonly backend: RawBackend;
  /** Configures a plugin for requests and streams; replaces an existing one. */
  plugin(name: string, config: Readonly<Record<string, unknown>>): Promise<void>;
  /** Sends a request; resolves to the status. Header values may contain any byte, as latin1. */
  request(target?: string, headers?: string): Promise<number>;
  /** Opens a TCP stream that sends this text and receives it back. */
  talk(text: string): Promise<void>;
  /** Sends a datagram and receives it back. */
  sendDatagram(text: string): Promise<void>;
  /** The plugin's counters from `GET /status`. */
  counts(plugin: string): Promise<Readonly<Record<string, number>>>;
}

const protocols = ['http', 'https', 'tcp', 'udp'];

export async function startLogRig(settings: Partial<Settings> = {}): Promise<LogRig> {
  const backend = await startRawBackend();
  const echo = await startRawBackend(({ socket }) => void socket.pipe(socket));
  const datagrams = await startDatagramEcho();
  const end = async (): Promise<void> => {
    await backend.close();
    await echo.close();
    datagrams.close();
  };
  const rig = await startStreamRig(['', 'udp'], settings).catch(async (error) => {
    await end();
    throw error;
  });
  const [tcpPort = 0, udpPort = 0] = rig.ports;
  await rig.write('PUT', '/services/web', { url: backend.url, retries: 0 });
  await rig.write('PUT', '/services/web/routes/web', { paths: ['/'], strip_path: false });
  await rig.route('echo', { port: echo.port }, { destinations: [{ port: tcpPort }] });
  const service = { protocol: 'udp', port: datagrams.address().port, read_timeout: 50 };
  await rig.route('datagrams', service, { protocols: ['udp'], destinations: [{ port: udpPort }] });
  return {
    rig,
    backend,
    async plugin(name, config) {
      const { data } = await rig.write('GET', '/plugins?size=100');
      const known = (data as { name: string; id: string }[]).find((row) => row.name === name);
      if (known === undefined) await rig.write('POST', '/plugins', { name, protocols, config });
      else await rig.write('PUT', `/plugins/${known.id}`, { name, protocols, config });
    },
    async request(target = '/', headers = '') {
      using client = await openClient(rig.gateway.proxyPort);
      client.write(`GET ${target} HTTP/1.1\r\nHost: logged.test\r\n${headers}Connection: close\r\n\r\n`);
      return (await client.readResponse()).status;
    },
    async talk(text) {
      using client = await openClient(tcpPort);
      client.write(text);
      assert.equal(await client.reader.readExactly(text.length), text);
      client.end();
      await client.readToEnd();
    },
    async sendDatagram(text) {
      const socket = createSocket('udp4');
      socket.send(text, udpPort, '127.0.0.1');
      const [answer] = (await once(socket, 'message')) as [Buffer];
      assert.equal(String(answer), text);
      socket.close();
    },
    async counts(plugin) {
      const answer = await fetch(`${rig.gateway.statusUrl}/status`);
      const { plugins } = (await answer.json()) as { plugins: Record<string, Record<string, number>> };
      return plugins[plugin] ?? {};
    },
    async [Symbol.asyncDispose]() {
      await rig.close();
      await end();
    },
  };
}

async function startDatagramEcho(): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  socket.on('message', (datagram, from) => socket.send(datagram, from.port, from.address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/** Parses lines of JSON, one record each. Throws on anything else. */
export function recordsOf(text: string): readonly SeenRecord[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SeenRecord);
}
