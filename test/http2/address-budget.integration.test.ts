import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ListenAddress } from '../../src/shared/settings/settings.ts';
import {
  Code,
  encodeFields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  openFrames,
  preface,
  uint32,
} from '../support/http2-frames.ts';
import { parseMetrics } from '../support/metrics-text.ts';
import { answer, answerEach } from '../support/raw-backend.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { testSettings } from '../support/settings.ts';
import { secured } from '../support/tls-client.ts';
import { until } from '../support/until.ts';
import { type AttackedGateway, describeCost, startAttackedGateway } from './attacked-gateway.ts';

const docs = join(import.meta.dirname, '../../docs');

/** The first number in a row of a page. */
function documented(row: string, page = 'http2.md', column = 2): number {
  const line = readFileSync(join(docs, page), 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`| ${row} |`));
  const [figure] = (line?.split('|')[column] ?? '').replaceAll(',', '').match(/\d+/) ?? [];
  assert.notEqual(figure, undefined, `${row} is not on the page`);
  return Number(figure);
}

/** In budgets of a connection: less than the default, so that the tests are shorter. */
const budget = 4;
const perSecond = (budget * documented('what it gets back each second')) / documented('budget of an address');
/** Streams that a connection may reset at once. */
const resets = documented('streams that the client resets or makes the gateway reset, and malformed requests');

const never = encodeFields(getFields('/never'));
const open = (stream: number): Buffer => frame(Frame.headers, Flag.endHeaders | Flag.endStream, stream, never);
const cancel = (stream: number): Buffer => frame(Frame.rstStream, 0, stream, uint32(Code.cancel));
const odd = (count: number): number[] => Array.from({ length: count }, (_, at) => 2 * at + 1);

/** More than a connection may do, for each kind of what is charged. */
const rapidResets = Buffer.concat(odd(2 * resets).flatMap((stream) => [open(stream), cancel(stream)]));
const floods: Readonly<Record<string, readonly [bytes: Buffer, cause: string]>> = {
  'streams that are reset': [rapidResets, 'streams that were reset'],
  'malformed requests': [
    Buffer.concat(odd(400).map((stream) => frame(Frame.headers, 5, stream, encodeFields([[':method', 'GET']])))),
    'streams that were reset',
  ],
  'frames that carry nothing': [
    Buffer.concat(Array.from({ length: 2_000 }, () => frame(Frame.ping, 0, 0, '12345678'))),
    'frames that carry nothing',
  ],
  'streams above the limit': [Buffer.concat(odd(2_000).map(open)), 'refused streams'],
  'a head without end': [
    Buffer.concat([
      frame(Frame.headers, Flag.endStream, 1, never),
      ...Array.from({ length: 100 }, () => frame(Frame.continuation, 0, 1)),
    ]),
    'connections that ended with an error',
  ],
  'broken frames': [frame(Frame.data, 0, 1, 'data of no stream'), 'connections that broke the protocol'],
};

describe('the HTTP/2 budget of an address', () => {
  let gateway: AttackedGateway;
  let address = 1;
  before(async () => {
    const begun = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nThe beginning';
    const script = answerEach(({ target }) =>
      target === '/never' ? null : target === '/begun' ? begun : answer('ok'),
    );
    gateway = await startAttackedGateway(script, {
      SLUICEGATE_HTTP2_BUDGET_PER_CLIENT: String(budget),
      KONG_TRUSTED_IPS: '127.0.1.0/24',
    });
    await gateway.admin('POST', '/plugins', { name: 'prometheus' });
  });
  after(() => gateway?.[Symbol.asyncDispose]());

  /** An address that was not used before. */
  const newAddress = (): string => `127.0.0.${++address}`;
  const connect = (from: string): Promise<FrameClient> => openFrames(gateway.port, new Uint8Array(0), false, from);

  /** Whether a new connection is served. */
  async function isServed(from: string): Promise<boolean> {
    using client = await connect(from);
    client.request(1, getFields('/good'));
    const { status } = await client.finished(1);
    assert.ok(status === 200 || client.goawayCode === Code.enhanceYourCalm, `status ${status}, ${client.goawayCode}`);
    return status === 200;
  }

  /** Sends the same on one new connection after the other until one of them is refused. Returns their number. */
  async function attackUntilRefused(from: string, bytes: Buffer, max = 2_000): Promise<number> {
    for (let connections = 1; connections <= max; connections++) {
      using client = await connect(from);
      client.write(bytes);
      await client.until(() => client.closed);
      if (!(await isServed(from))) return connections;
    }
    throw new Error(`${max} connections were served`);
  }

  /** Spends this many times the budget of an address, with connections that were accepted before any was charged. */
  async function overspend(from: string, times: number): Promise<void> {
    const count = Math.ceil((times * budget * resets) / 100);
    const before = gateway.backend.requests.length;
    const clients = await Promise.all(Array.from({ length: count }, () => connect(from)));
    for (const client of clients) client.write(Buffer.concat(odd(100).map(open)));
    await until(() => gateway.backend.requests.length >= before + count * 100);
    for (const client of clients) client.close();
    await until(async () => !(await isServed(from)));
  }

  it('has the default that the page says', () => {
    assert.equal(documented('*`http2_budget_per_client`*', 'settings.md', 3), documented('budget of an address'));
  });

  it('bounds what it costs, however often it connects, and others are served meanwhile', async (test) => {
    const from = newAddress();
    let connections = 0;
    const begun = performance.now();
    const cost = await gateway.measure(async () => {
      while (performance.now() - begun < 2_000) {
        using client = await connect(from);
        client.write(rapidResets);
        await client.until(() => client.closed);
        connections++;
        assert.ok(connections % 50 !== 0 || (await isServed('127.0.0.1')), 'another address is refused');
      }
    });
    const seconds = (performance.now() - begun) / 1000;
    test.diagnostic(`${connections} connections in ${seconds.toFixed(1)} s: ${describeCost(cost)}`);
    assert.ok(connections > 3 * budget, `only ${connections} connections`);
    const bound = resets * (budget + perSecond * seconds);
    assert.ok(cost.requests <= bound + 50, `${cost.requests} requests at the backend, at most ${bound} are paid for`);
  });

  it('bounds connections that were opened before', async () => {
    const from = newAddress();
    const begun = performance.now();
    const before = gateway.backend.requests.length;
    const clients = await Promise.all(Array.from({ length: 5 * budget }, () => connect(from)));
    for (const client of clients) {
      client.write(rapidResets);
      await client.until(() => client.closed);
    }
    const bound = resets * (budget + (perSecond * (performance.now() - begun)) / 1000) + clients.length;
    const requests = gateway.backend.requests.length - before;
    assert.ok(requests <= bound, `${requests} requests at the backend, at most ${bound} are paid for`);
  });

  for (const [what, [bytes, cause]] of Object.entries(floods)) {
    it(`is charged for ${what}`, async (test) => {
      const from = newAddress();
      const connections = await attackUntilRefused(from, bytes);
      test.diagnostic(`refused after ${connections} connections`);
      // A connection can use up several of its budgets at once.
      assert.ok(connections >= budget / 3, `refused after ${connections} connections`);
      assert.equal(await isServed(newAddress()), true);
      const page = parseMetrics(await (await fetch(`${gateway.process.url('status')}/metrics`)).text());
      assert.ok(page.value('sluicegate_http2_refused_connections_total') > 0);
      // The first of them is logged; more follow within the interval of the log.
      if (!gateway.process.output().includes(from)) return;
      const line =
        gateway.process
          .output()
          .split('\n')
          .find((each) => each.includes(from)) ?? '';
      assert.match(line, /HTTP\/2 connections of an address are refused/);
      assert.ok(line.includes(cause), line);
    });
  }

  it('is charged for requests that are open when their connection is closed', async () => {
    const from = newAddress();
    const requests = Buffer.concat(odd(100).map(open));
    let connections = 0;
    do {
      using client = await connect(from);
      const before = gateway.backend.requests.length;
      client.write(requests);
      await until(() => client.closed || gateway.backend.requests.length >= before + 100);
      connections++;
    } while (connections < 500 && (await isServed(from)));
    assert.ok(connections >= 2 * (budget - 1) && connections < 500, `refused after ${connections} connections`);
  });

  it('refills', async (test) => {
    const from = newAddress();
    await overspend(from, 1.1);
    const waited = await until(() => isServed(from), 10_000);
    test.diagnostic(`served again after ${Math.round(waited)} ms`);
    const expected = (0.1 * budget * 1000) / perSecond;
    assert.ok(waited < expected + 3_000, `${waited} ms, expected ${expected}`);
  });

  it('does not end connections that do nothing wrong', async () => {
    const from = newAddress();
    using client = await connect(from);
    client.request(1, getFields('/good'));
    assert.equal((await client.finished(1)).status, 200);
    await overspend(from, 1.5);
    for (const stream of [3, 5, 7]) {
      client.request(stream, getFields('/good'));
      assert.equal((await client.finished(stream)).ended, true);
    }
    assert.equal(client.goawayCode, null);
  });

  it('leaves HTTP/1.1 to clients over TLS', async () => {
    const from = newAddress();
    await overspend(from, 2);
    const agreed = async (localAddress: string, ...ALPNProtocols: string[]): Promise<string | false | null> => {
      const socket = await secured(gateway.tlsPort, { localAddress, ALPNProtocols });
      socket.destroy();
      return socket.alpnProtocol;
    };
    assert.equal(await agreed(from, 'h2', 'http/1.1'), 'http/1.1');
    await assert.rejects(agreed(from, 'h2'), /alert|ECONNRESET/);
    assert.equal(await agreed('127.0.0.1', 'h2', 'http/1.1'), 'h2');
    assert.equal(await agreed('127.0.0.1', 'h2'), 'h2');
  });

  it('is not charged for resets that answered requests make up for', async () => {
    const from = newAddress();
    const streams = 120;
    for (let turn = 0; turn * streams < 2 * budget * resets; turn++) {
      using client = await connect(from);
      for (let at = 0; at < streams; at++) {
        client.request(2 * at + 1, getFields('/good'));
        if (at % 100 === 99) await client.finished(2 * at + 1);
      }
      await client.finished(2 * streams - 1);
      const last = 2 * streams + 1;
      for (let at = 0; at < 100; at++) client.write(open(last + 2 * at), cancel(last + 2 * at));
      client.request(last + 200, getFields('/good'));
      assert.equal((await client.finished(last + 200)).ended, true, `turn ${turn}`);
    }
  });

  it('is not charged for answers that have begun: videos, event streams, gRPC', async () => {
    const from = newAddress();
    const streams = odd(100);
    for (let turn = 0; turn * streams.length < 2 * budget * resets; turn++) {
      using client = await connect(from);
      for (const stream of streams) client.request(stream, getFields('/begun'));
      await client.until(() => streams.every((stream) => client.record(stream).bytes > 0));
      if (turn % 2 === 0) client.write(Buffer.concat(streams.map(cancel)));
    }
    assert.equal(await isServed(from), true);
  });

  it('does not exist for trusted_ips, whose connections have their own', async () => {
    const from = '127.0.1.1';
    for (let turn = 0; turn < 2 * budget; turn++) {
      using client = await connect(from);
      client.write(rapidResets);
      await client.until(() => client.closed);
      assert.equal(await isServed(from), true, `turn ${turn}`);
    }
  });
});

describe('the HTTP/2 budget of IPv6 addresses', () => {
  let rig: Rig;
  let port = 0;
  before(async () => {
    const [plain] = testSettings({ prefix: '/' }).proxyListen as readonly [ListenAddress];
    const proxied = { ...plain, proxyProtocol: true, http2: true, listener: '127.0.0.1:0 proxy_protocol http2' };
    const settings = { trustedIps: ['127.0.0.1'], realIpHeader: 'proxy_protocol', http2BudgetPerClient: 2 };
    rig = await startRig({ settings: { ...settings, proxyListen: [plain, proxied] } });
    port = rig.gateway.gateway.addresses.proxy[1]?.port ?? 0;
  });
  after(() => rig?.close());

  /** A client of this address behind a trusted proxy. */
  async function connect(from: string): Promise<FrameClient> {
    const client = await openFrames(port, null);
    client.write(`PROXY TCP6 ${from} 2001:db8::1 40000 443\r\n`, preface, frame(Frame.settings, 0, 0));
    return client;
  }

  async function isServed(from: string): Promise<boolean> {
    using client = await connect(from);
    client.request(1, getFields('/good'));
    return (await client.finished(1)).status === 200;
  }

  async function attack(from: string): Promise<void> {
    using client = await connect(from);
    client.write(rapidResets);
    await client.until(() => client.closed);
  }

  it('is one for a /64 network', async () => {
    const refused = async (): Promise<boolean> => !(await isServed('2001:db8:1:1::ffff'));
    for (let host = 1; host < 200 && !(await refused()); host++) await attack(`2001:db8:1:1::${host}`);
    assert.equal(await refused(), true);
    assert.equal(await isServed('2001:db8:1:2::1'), true);
    assert.equal(await isServed('2001:db8:2:1::1'), true);
  });

  it('is bounded for all networks of a /48', async () => {
    const refused = async (): Promise<boolean> => !(await isServed('2001:db8:3:ffff::1'));
    let network = 0;
    while (network < 1_000 && !(await refused())) await attack(`2001:db8:3:${(++network).toString(16)}::1`);
    assert.ok(network >= 8, `${network} networks`);
    assert.equal(await refused(), true);
    assert.equal(await isServed('2001:db8:4:1::1'), true);
  });

  it('is that of the IPv4 address in a mapped one', async () => {
    const refused = async (): Promise<boolean> => !(await isServed('::ffff:192.0.2.1'));
    for (let turn = 0; turn < 200 && !(await refused()); turn++) await attack('::ffff:192.0.2.1');
    assert.equal(await refused(), true);
    assert.equal(await isServed('::ffff:192.0.2.2'), true);
  });
});
