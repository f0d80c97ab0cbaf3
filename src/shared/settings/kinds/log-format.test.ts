import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadSettings } from '../sources/load.ts';
import { parseLogFormat } from './log-format.ts';
import { httpFormats } from './log-formats.ts';
import { logVariables, streamVariables } from './log-variables.ts';

test('a format has the syntax of nginx', () => {
  assert.deepEqual(parseLogFormat('f', `mine '$remote_addr "\${status}" ' "it\\'s \\"$arg_page\\"" ;`, httpFormats), {
    name: 'mine',
    escape: 'default',
    parts: [
      { variable: 'remote_addr' },
      { text: ' "' },
      { variable: 'status' },
      { text: '" it\'s "' },
      { variable: 'arg_page' },
      { text: '"' },
    ],
  });
  assert.equal(parseLogFormat('f', `k escape=json '{"s":$status}'`, httpFormats).escape, 'json');
});

const wrong: readonly (readonly [text: string, message: RegExp])[] = [
  [`'$status'`, /^f must begin with a name/],
  ['mine', /^f has no text after the name 'mine'$/],
  [`mine '$status`, /^f has a quotation mark without its partner$/],
  [`mine escape=xml '$status'`, /^f: escape is default, json, none, not 'xml'$/],
  [`mine '$statu'`, /^f: there is no variable \$statu; did you mean \$status\?$/],
  [`mine '$tcpinfo_rtt'`, /^f: there is no variable \$tcpinfo_rtt \(docs\/logs\.md lists them\)$/],
  [`mine '$http_'`, /^f: there is no variable \$http_/],
  [`mine '$cookie_sid'`, /cookies are credentials/],
  [`mine 'costs 5$'`, /^f has a \$ without the name of a variable behind it$/],
  [`mine '$status\\n$status'`, /must not have line breaks/],
  [`json '$status'`, /^f: the log format 'json' is there already/],
];

for (const [text, message] of wrong) {
  test(`refused: ${text}`, () => {
    assert.throws(() => parseLogFormat('f', text, httpFormats), { message });
  });
}

function load(env: Readonly<Record<string, string>>) {
  return loadSettings({ env: { KONG_PREFIX: '/tmp/nowhere', ...env }, cwd: '/' }).settings;
}

test('an access log names its format behind the file', () => {
  const settings = load({
    KONG_NGINX_HTTP_LOG_FORMAT: "mine '$status'",
    KONG_PROXY_ACCESS_LOG: '/dev/stdout mine',
    KONG_ADMIN_ACCESS_LOG: 'logs/a.log json',
    KONG_STATUS_ACCESS_LOG: 'logs/s.log',
    KONG_NGINX_STREAM_LOG_FORMAT: "mine '$session_time'",
    KONG_PROXY_STREAM_ACCESS_LOG: 'logs/stream.log mine',
    KONG_PROXY_ACCESS_LOG_SAMPLING: '0.1',
    KONG_PROXY_ACCESS_LOG_ALWAYS: '5xx, 429',
  });
  assert.equal(settings.proxyAccessLog, '/dev/stdout');
  assert.equal(settings.adminAccessLog, '/tmp/nowhere/logs/a.log');
  assert.equal(settings.statusAccessLog, '/tmp/nowhere/logs/s.log');
  assert.equal(settings.proxyStreamAccessLog, '/tmp/nowhere/logs/stream.log');
  const { proxy, admin, status, stream } = settings.accessLogFormats;
  assert.deepEqual([proxy.name, admin.name, status.name], ['mine', 'json', 'kong_log_format']);
  assert.deepEqual(stream.parts, [{ variable: 'session_time' }]);
  assert.equal(load({}).accessLogFormats.stream.name, 'basic');
  const { share, always } = settings.accessLogSampling;
  assert.equal(share, 0.1);
  assert.deepEqual(
    [200, 404, 429, 500, 599].map((each) => always[each]),
    [0, 0, 1, 1, 1],
  );
  assert.equal(load({}).statusAccessLog, 'off');
});

test('an unknown format, and parameters of nginx after it, are rejected', () => {
  assert.throws(() => load({ KONG_PROXY_ACCESS_LOG: 'logs/a.log jsn' }), {
    message: /^proxy_access_log names the log format 'jsn', which there is not; did you mean 'json'\?/,
  });
  assert.throws(() => load({ KONG_PROXY_ACCESS_LOG: 'logs/a.log json buffer=32k' }), {
    message: /^proxy_access_log takes a file and the name of a log format, and not 'buffer=32k' behind them/,
  });
  assert.throws(() => load({ KONG_PROXY_ACCESS_LOG_ALWAYS: '6xx' }), { message: /'6xx' \(write 5xx or 429\)/ });
});

test('docs/logs.md and docs/streams.md name every variable', () => {
  const page = (name: string) => readFileSync(new URL(`../../../../docs/${name}.md`, import.meta.url), 'utf8');
  const [logs, streams] = [page('logs'), page('streams')];
  for (const name of logVariables) assert.ok(logs.includes(`\`$${name}\``), name);
  for (const name of streamVariables) assert.ok(`${logs}${streams}`.includes(`\`$${name}\``), name);
});
