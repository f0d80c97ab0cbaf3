import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type LogRig, type SeenRecord, startLogRig } from '../../../test/support/log-rig.ts';
import { hasRsyslogd, startRsyslogd } from '../../../test/support/rsyslogd.ts';
import { until } from '../../../test/support/until.ts';

const severities = { facility: 'local3', client_errors_severity: 'warning', server_errors_severity: 'err' };
const recordIn = (message: string): SeenRecord => JSON.parse(message.slice(message.indexOf('{'))) as SeenRecord;

describe('syslog', () => {
  const folder = mkdtempSync(join(tmpdir(), 'syslog-'));
  const path = join(folder, 'log');
  const sockets = new Set<Socket>();
  let texts: string[] = [];
  let daemon: Server;
  let rig: LogRig;
  const lines = (): readonly string[] =>
    texts.flatMap((text) => text.slice(0, text.lastIndexOf('\n') + 1).split('\n')).filter(Boolean);
  const startDaemon = async (): Promise<void> => {
    texts = [];
    daemon = createServer((socket) => {
      const at = texts.push('') - 1;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.setEncoding('utf8').on('data', (text: string) => {
        texts[at] += text;
      });
    }).listen(path);
    await once(daemon, 'listening');
  };
  const stopDaemon = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => daemon.close(resolve));
  };
  before(async () => {
    await startDaemon();
    rig = await startLogRig({ workers: 2 });
    await rig.plugin('syslog', { socket_path: path, ...severities, queue: { initial_retry_delay: 0.05 } });
  });
  after(async () => {
    await rig[Symbol.asyncDispose]();
    await stopDaemon();
    rmSync(folder, { recursive: true });
  });

  it('sends a line for each request and each stream to the local daemon, over a stream socket', async () => {
    assert.equal(await rig.request('/first?apikey=hidden', 'Authorization: Basic hidden\r\nX-Odd: a\x85"}\t\r\n'), 200);
    await rig.talk('hello');
    await rig.sendDatagram('hi');
    await until(() => lines().length === 3);
    for (const line of lines()) {
      assert.match(
        line,
        new RegExp(`^<158>[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d kong\\[${process.pid}\\]: \\{.*\\}$`),
      );
    }
    assert.doesNotMatch(lines().join(), /hidden/);
    assert.deepEqual(
      lines()
        .map((line) => recordIn(line)['route'].name)
        .toSorted(),
      ['datagrams', 'echo', 'web'],
    );
  });

  it('affects no request while the daemon is unavailable, and sends kept lines afterwards', async () => {
    await stopDaemon();
    for (let turn = 0; turn < 20; turn++) assert.equal(await rig.request(`/kept/${turn}`), 200);
    await until(async () => ((await rig.counts('syslog'))['delivery_failures'] ?? 0) > 0);
    await startDaemon();
    await until(() => new Set(lines().map((line) => recordIn(line)['request'].uri)).size === 20);
  });

  it('sends an RFC 5424 datagram for each, with the severity of its status', async () => {
    const seen: string[] = [];
    const receiver = createSocket('udp4');
    receiver.on('message', (datagram) => seen.push(String(datagram)));
    receiver.bind(0, '127.0.0.1');
    await once(receiver, 'listening');
    await rig.rig.write('PATCH', '/routes/web', { paths: ['/found'] });
    const { port } = receiver.address();
    await rig.plugin('syslog', { protocol: 'udp', host: '127.0.0.1', port, log_level: 'warning', ...severities });
    assert.equal(await rig.request('/found'), 200);
    assert.equal(await rig.request('/unknown'), 404);
    await until(() => seen.length === 1);
    const name = hostname().replaceAll('.', '\\.');
    assert.match(
      seen[0] ?? '',
      new RegExp(`^<156>1 \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z ${name} kong ${process.pid} - - \\{.*\\}$`),
    );
    assert.equal(recordIn(seen[0] ?? '')['response'].status, 404);
    receiver.close();
  });
});

describe('syslog and rsyslogd', { skip: hasRsyslogd ? false : 'there is no rsyslogd on this machine' }, () => {
  it('parses messages over UDP, TCP and a Unix socket', async () => {
    await using rsyslogd = await startRsyslogd();
    await using rig = await startLogRig();
    const { port, socketPath } = rsyslogd;
    const ways = [
      ['imudp', { protocol: 'udp', host: '127.0.0.1', port }],
      ['imtcp', { protocol: 'tcp', host: '127.0.0.1', port }],
      ['imptcp', { protocol: 'local', socket_path: socketPath }],
    ] as const;
    for (const [input, way] of ways) {
      await rig.plugin('syslog', { ...way, ...severities });
      await rig.request(`/${input}?q=%e2%80%a8%0a`, 'X-Odd: a\x85"}\r\n');
      await rig.talk(input);
      const own = () => rsyslogd.messages().filter((one) => one.input === input);
      await until(() => own().length === 2);
      for (const message of own()) {
        assert.equal(message.facility, 'local3');
        assert.equal(message.severity, 'info');
        assert.equal(message.program, 'kong');
      }
      const records = own().map((one) => recordIn(one.text));
      assert.ok(records.some((record) => record['request']?.uri.startsWith(`/${input}?`)));
      assert.ok(records.some((record) => record['session']?.received === input.length));
    }
  });
});
