import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import syslog from './index.ts';
import { formatLocalLine, formatMessage, syslogHostname } from './message.ts';

const folder = mkdtempSync(join(tmpdir(), 'syslog-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('refuses an invalid configuration and names the field', async () => {
  const { check } = testPlugin(syslog);
  const cases: [Record<string, unknown>, RegExp][] = [
    [
      { log_level: 'warn' },
      /config\.log_level: expected one of: debug, info, notice, warning, err, crit, alert, emerg/,
    ],
    [{ facility: 'local8' }, /config\.facility: expected one of/],
    [{ server_errors_severity: null }, /^$/],
    [{ protocol: 'unix' }, /config\.protocol/],
    [{ socket_path: 'log' }, /config\.socket_path: should start with: \//],
    [{ protocol: 'udp', host: 'a:514' }, /config\.host: must not have a port/],
    [{ protocol: 'udp', port: 65_536 }, /config\.port/],
  ];
  for (const [config, problem] of cases) {
    const checked = await check(config);
    assert.match(checked.ok ? '' : checked.message, problem);
  }
});

test('formats messages by RFC 5424, and local lines as the C library does', () => {
  const time = new Date(2026, 0, 3, 4, 5, 6, 78).getTime();
  const entry = { severity: 3, time, text: '{}' };
  const from = { facility: 'local3', hostname: 'node-1', pid: 42 } as const;
  assert.equal(formatMessage(entry, from), `<155>1 ${new Date(time).toISOString()} node-1 kong 42 - - {}`);
  assert.equal(formatLocalLine(entry, from), '<155>Jan  3 04:05:06 kong[42]: {}\n');
  assert.equal(syslogHostname('my host\n<ö>'), 'my?host?<?>');
  assert.equal(syslogHostname(''), '-');
});

/** Collects the bytes of connections. */
async function collector(at: ListenOptions) {
  const texts: string[] = [];
  const server = createServer((socket) => {
    const index = texts.push('') - 1;
    socket.setEncoding('utf8').on('data', (text: string) => {
      texts[index] += text;
    });
  });
  server.listen(at);
  await once(server, 'listening');
  return {
    texts,
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const severities = { client_errors_severity: 'warning', server_errors_severity: 'crit' };

test('derives the severity from the status, and sends nothing below log_level', async () => {
  const path = join(folder, 'severities.sock');
  const { texts, close } = await collector({ path });
  const { request, stream, drain, dispose, counts } = testPlugin(syslog, {
    config: { socket_path: path, log_level: 'warning', ...severities },
  });
  for (const status of [200, 301, 404, 503]) await request({ path: `/${status}`, backend: { status } });
  await stream({ status: 200 });
  await stream({ status: 502 });
  await drain();
  const closed = close();
  await dispose();
  await closed;
  const lines = texts.join('').trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => /^<\d+>/.exec(line)?.[0]),
    ['<12>', '<10>', '<10>'],
  );
  const [, , third = ''] = lines;
  assert.match(third, /^<10>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d kong\[4711\]: \{/);
  assert.equal(JSON.parse(third.slice(third.indexOf('{'))).session.status, 502);
  assert.equal(counts.get('syslog.entries_sent'), 3);
});

test('puts the length in bytes before each message over TCP', async () => {
  const { texts, port, close } = await collector({ port: 0, host: '127.0.0.1' });
  const { request, drain, dispose } = testPlugin(syslog, { config: { protocol: 'tcp', host: '127.0.0.1', port } });
  await request({ path: '/?a=%C3%A9&apikey=hidden', headers: { 'X-Odd': 'ä"}' } });
  await request({ path: '/2', headers: { Authorization: 'Bearer hidden' } });
  await drain();
  const closed = close();
  await dispose();
  await closed;
  assert.equal(texts.length, 1);
  const bytes = Buffer.from(texts[0] ?? '');
  const messages: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const end = space + 1 + Number(bytes.toString('latin1', at, space));
    messages.push(bytes.toString('utf8', space + 1, end));
    at = end;
  }
  assert.equal(messages.length, 2);
  assert.match(messages[0] ?? '', /^<14>1 \d{4}-\d\d-\d\dT[\d:.]+Z test-host kong 4711 - - \{.*\}$/);
  assert.doesNotMatch(messages.join(), /hidden|[\r\n]/);
  assert.equal(JSON.parse(messages[0]?.slice(messages[0].indexOf('{')) ?? '').request.headers['x-odd'], 'ä"}');
});

test('begins the journal stream with its identifier, and lines with their severity', async () => {
  mkdirSync(join(folder, 'systemd', 'journal'), { recursive: true });
  const path = join(folder, 'systemd', 'journal', 'stdout');
  const { texts, close } = await collector({ path });
  const { request, drain, dispose } = testPlugin(syslog, {
    config: { socket_path: path, facility: 'local0', ...severities },
  });
  await request({ backend: { status: 500 } });
  await drain();
  const closed = close();
  await dispose();
  await closed;
  assert.match(texts[0] ?? '', /^kong\n\n134\n1\n0\n0\n0\n<2>\{[^\n]*\}\n$/);
});

test('truncates long messages at a character boundary, and counts them', async () => {
  const receiver = createSocket('udp4');
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address();
  for (const max_size of [480, 481, 8192, 65_507]) {
    const { request, drain, dispose, counts } = testPlugin(syslog, {
      config: { protocol: 'udp', host: '127.0.0.1', port, max_size, custom_fields: { a: "$(headers['x-long'])" } },
    });
    const [[datagram]] = await Promise.all([once(receiver, 'message'), request()]);
    assert.match(String(datagram), /^<14>1 \S+ test-host kong 4711 - - \{/);
    const [[long]] = (await Promise.all([
      once(receiver, 'message'),
      request({ headers: { 'X-Long': 'é<0>'.repeat(20_000) } }),
    ])) as [[Buffer], unknown];
    assert.ok(long.length <= max_size && long.length > max_size - 8, String(long.length));
    assert.doesNotMatch(String(long), /\ufffd/);
    assert.equal(counts.get('syslog.messages_cut'), max_size < 500 ? 2 : 1);
    assert.equal(counts.has('syslog.datagrams_too_large'), false);
    await drain();
    await dispose();
  }
  receiver.close();
});

test('names a missing socket in the error log', async () => {
  const { request, drain, logLines, counts } = testPlugin(syslog, {
    config: { socket_path: '/nowhere/log', queue: { max_retry_time: 0 } },
  });
  await request();
  await drain();
  assert.match(JSON.stringify(logLines), /ENOENT \/nowhere\/log/);
  assert.equal(counts.get('syslog.entries_dropped'), 1);
});
