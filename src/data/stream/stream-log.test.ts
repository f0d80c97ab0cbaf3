import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLogFormat } from '../../shared/settings/kinds/log-format.ts';
import { streamFormats } from '../../shared/settings/kinds/log-formats.ts';
import { Session } from './session.ts';
import { streamFormatter } from './stream-log.ts';

function sessionOf(fields: Partial<Session> = {}): Session {
  const session = new Session('tls', { ip: '192.0.2.7', port: 5000 }, '10.0.0.1', 5432);
  return Object.assign(session, { bytesSent: 7, bytesReceived: 3, ...fields });
}

function lineOf(session: Session, text: string): string {
  return streamFormatter(parseLogFormat('f', `x '${text}'`, streamFormats))(session);
}

test('the default line is that of Kong', () => {
  const [basic] = streamFormats.builtIn;
  assert.ok(basic !== undefined);
  assert.match(
    streamFormatter(basic)(sessionOf()),
    /^192\.0\.2\.7 \[\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] TCP 200 7 3 \d+\.\d{3}$/,
  );
});

test('a format may use the variables of a stream', () => {
  const attempts = [
    { startedAt: 0, ip: '10.0.0.2', port: 1, failed: 502 },
    { startedAt: 0, ip: '::1', port: 2, failed: 0 },
  ];
  const session = sessionOf({ serverName: 'db.test', upstreamSent: 9, attempts });
  assert.equal(
    lineOf(
      session,
      '$remote_port $server_port $ssl_preread_server_name $upstream_addr $upstream_bytes_sent $route_name',
    ),
    '5000 5432 db.test 10.0.0.2:1, [::1]:2 9 -',
  );
  assert.equal(lineOf(sessionOf(), '$upstream_addr'), '-');
});

test('a line in JSON is JSON', () => {
  const json = streamFormats.builtIn.find(({ name }) => name === 'json');
  assert.ok(json !== undefined);
  const line = JSON.parse(streamFormatter(json)(sessionOf({ serverName: 'a"b\n' })));
  assert.deepEqual(
    [line.client_ip, line.status, line.server_name, line.upstream_addr],
    ['192.0.2.7', 200, 'a"b\n', null],
  );
});

test('variables of requests are rejected', () => {
  assert.throws(() => lineOf(sessionOf(), '$request'), { message: /^f: there is no variable \$request/ });
  assert.throws(() => lineOf(sessionOf(), '$upstream_adr'), { message: /did you mean \$upstream_addr\?$/ });
});
