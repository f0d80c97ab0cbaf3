import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { CertificateAuthority } from '../../../test/support/certificate-authority.ts';
import { type LogRig, recordsOf, type SeenRecord, startLogRig } from '../../../test/support/log-rig.ts';
import { until } from '../../../test/support/until.ts';

/** A receiver of lines that can stop and start again. */
class Collector {
  readonly #make: (take: (socket: Socket) => void) => Server;
  #server: Server | null = null;
  #texts: string[] = [];
  readonly sockets = new Set<Socket>();
  port = 0;
  connections = 0;

  constructor(make: (take: (socket: Socket) => void) => Server) {
    this.#make = make;
  }

  async start(): Promise<void> {
    this.#server = this.#make((socket) => this.#take(socket));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  #take(socket: Socket): void {
    const at = this.#texts.push('') - 1;
    this.connections++;
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    socket.setEncoding('utf8').on('data', (text: string) => {
      this.#texts[at] += text;
    });
  }

  /** Whole lines of all connections. */
  get records(): readonly SeenRecord[] {
    return this.#texts.flatMap((text) => recordsOf(text.slice(0, text.lastIndexOf('\n') + 1)));
  }

  forget(): void {
    this.#texts = this.#texts.map(() => '');
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}

const uris = (seen: readonly SeenRecord[]): readonly string[] => seen.map((one) => one['request'].uri);

describe('tcp-log', () => {
  let rig: LogRig;
  const collector = new Collector((take) => createServer(take));
  before(async () => {
    await collector.start();
    rig = await startLogRig({ workers: 2 });
    await rig.plugin('tcp-log', { host: 'localhost', port: collector.port, queue: { initial_retry_delay: 0.05 } });
  });
  after(async () => {
    await rig[Symbol.asyncDispose]();
    await collector.stop();
  });

  it('sends a line for each request and each stream', async () => {
    assert.equal(await rig.request('/first?apikey=hidden', 'Authorization: Basic hidden\r\nX-Odd: a\x85"}\t\r\n'), 200);
    await rig.talk('hello');
    await rig.sendDatagram('hi');
    await until(() => collector.records.length === 3);
    assert.doesNotMatch(JSON.stringify(collector.records), /hidden/);
    assert.deepEqual(collector.records.map((one) => one['route'].name).toSorted(), ['datagrams', 'echo', 'web']);
  });

  it('keeps one connection for each worker, and loses no line', async () => {
    collector.forget();
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 10 }, (_, turn) => rig.request(`/${round}/${turn}`)));
    }
    await until(() => collector.records.length === 200);
    assert.equal(new Set(uris(collector.records)).size, 200);
    assert.ok(collector.connections <= 2, String(collector.connections));
  });

  it('affects no request while the receiver is unavailable, and sends kept lines afterwards', async () => {
    collector.forget();
    await collector.stop();
    for (let turn = 0; turn < 20; turn++) assert.equal(await rig.request(`/kept/${turn}`), 200);
    await until(async () => ((await rig.counts('tcp-log'))['delivery_failures'] ?? 0) > 0);
    await collector.start();
    await until(() => new Set(uris(collector.records)).size === 20);
  });

  it('affects no request when the receiver does not read; records beyond the queue are dropped and counted', async () => {
    const before = (await rig.counts('tcp-log'))['entries_dropped'] ?? 0;
    const deaf = createServer({ pauseOnConnect: true }, (socket) => void socket.on('error', () => {})).listen(
      0,
      '127.0.0.1',
    );
    await once(deaf, 'listening');
    const queue = { max_entries: 10, max_batch_size: 10, max_retry_time: 0 };
    const { port } = deaf.address() as AddressInfo;
    await rig.plugin('tcp-log', {
      host: '127.0.0.1',
      port,
      timeout: 100,
      queue,
      custom_fields: { long: 'x'.repeat(4000) },
    });
    await until(async () => {
      const burst = Array.from({ length: 20 }, () => rig.request('/deaf', `X-Long: ${'y'.repeat(28_000)}\r\n`));
      assert.ok((await Promise.all(burst)).every((status) => status === 200));
      return ((await rig.counts('tcp-log'))['entries_dropped'] ?? 0) > before;
    });
    deaf.close();
  });
});

describe('tcp-log over TLS', () => {
  const authority = new CertificateAuthority();
  const collector = new Collector((take) => createTlsServer(authority.issue('logs.test'), take));
  let rig: LogRig;
  before(async () => {
    await collector.start();
    rig = await startLogRig({ trustedCertificates: authority.file });
  });
  after(async () => {
    await rig[Symbol.asyncDispose]();
    await collector.stop();
    authority[Symbol.dispose]();
  });

  it('sends to a receiver with a valid certificate', async () => {
    await rig.plugin('tcp-log', { host: '127.0.0.1', port: collector.port, tls: true, tls_sni: 'logs.test' });
    await rig.request('/secret');
    await until(() => uris(collector.records).includes('/secret'));
  });

  it('sends nothing to a receiver with an invalid certificate, unless configured', async () => {
    const address = { host: '127.0.0.1', port: collector.port, tls: true, tls_sni: 'other.test' };
    await rig.plugin('tcp-log', { ...address, queue: { max_retry_time: 0 } });
    await rig.request('/unsent');
    await until(async () => ((await rig.counts('tcp-log'))['entries_dropped'] ?? 0) > 0);
    await rig.plugin('tcp-log', { ...address, tls_verify: false });
    await rig.request('/careless');
    await until(() => uris(collector.records).includes('/careless'));
    assert.ok(!uris(collector.records).includes('/unsent'));
  });
});
