import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LogFormat, parseLogFormat } from '../settings/kinds/log-format.ts';
import { httpFormats } from '../settings/kinds/log-formats.ts';
import { compileFormat, type Variable } from './access-log.ts';
import { isoTime, localTime, seconds } from './log-times.ts';

type Source = Readonly<Record<string, string | null>>;

function line(format: LogFormat, source: Source): string {
  return compileFormat<Source>(format, { variable: (name) => ({ read: (from) => from[name] ?? null }) })(source);
}

function named(name: string): LogFormat {
  const found = httpFormats.builtIn.find((format) => format.name === name);
  assert.ok(found !== undefined);
  return found;
}

const hostile = '"\r\n\\ \x00\x7f\xc3\xa9\xff';

test('the default line is that of Kong', () => {
  const source = {
    remote_addr: '10.1.2.3',
    time_local: '21/Nov/2025:03:04:05 +0100',
    request: 'GET /users/42?a=b HTTP/1.1',
    status: '200',
    body_bytes_sent: '234',
    http_referer: '',
    http_user_agent: 'curl/8.0',
    kong_request_id: '0123',
  };
  const combined = '10.1.2.3 - - [21/Nov/2025:03:04:05 +0100] "GET /users/42?a=b HTTP/1.1" 200 234 "-" "curl/8.0"';
  assert.equal(line(named('kong_log_format'), source), `${combined} kong_request_id: "0123"`);
  assert.equal(line(named('combined'), source), combined);
});

test('nothing in a field can end the line or the field', () => {
  const shown = line(parseLogFormat('f', `x '$remote_user "$http_a"'`, httpFormats), {
    remote_user: 'a b"\n',
    http_a: hostile,
  });
  assert.equal(shown, 'a\\x20b\\x22\\x0A "\\x22\\x0D\\x0A\\x5C \\x00\\x7F\\xC3\\xA9\\xFF"');
  for (const escaping of ['default', 'json', 'none']) {
    const format = parseLogFormat('f', `x escape=${escaping} '"$http_a"'`, httpFormats);
    for (let code = 0; code < 256; code++) {
      const text = line(format, { http_a: String.fromCharCode(code) });
      assert.match(text, escaping === 'none' ? /^[\x20-\x7e\x80-\xff]+$/ : /^"[\x20-\x7e]+"$/, `${escaping} ${code}`);
    }
  }
});

test('a line in JSON is JSON, whatever clients send', () => {
  const own = parseLogFormat('f', `x escape=json '{"a":"$http_a","b":"$http_b"}'`, httpFormats);
  assert.deepEqual(JSON.parse(line(own, { http_a: hostile })), { a: '"\r\n\\ \x00\x7fé\ufffd', b: '' });
  const text = line(named('json'), { http_user_agent: hostile, status: '200', request_time: '0.012', user: null });
  assert.match(text, /^[\x20-\x7e]+$/);
  const parsed = JSON.parse(text);
  assert.equal(parsed.user_agent, '"\r\n\\ \x00\x7fé\ufffd');
  assert.deepEqual([parsed.status, parsed.request_time, parsed.request_length, parsed.user], [200, 0.012, null, null]);
});

test('an absent value is a dash; in JSON and without escapes it is empty', () => {
  const text = (escaping: string) =>
    line(parseLogFormat('f', `x escape=${escaping} '[$args] $http_a'`, httpFormats), { args: '' });
  assert.deepEqual([text('default'), text('json'), text('none')], ['[-] -', '[] ', '[] ']);
});

test('texts of a format are bytes of UTF-8', () => {
  assert.equal(
    Buffer.from(line(parseLogFormat('f', "x 'é $status'", httpFormats), { status: '200' }), 'latin1').toString(),
    'é 200',
  );
});

test('parts that depend on the head are built once while they are cached, and only variables of the format are read', () => {
  const read: string[] = [];
  const variable = (name: string): Variable<Source> => ({
    read: (from) => {
      read.push(name);
      return from[name] ?? null;
    },
    ofHead: name.startsWith('http_'),
  });
  const kept = new Map<string, string>();
  const format = compileFormat<Source>(
    parseLogFormat('f', `x '$http_z $status "$http_a" "$http_b" $request_id'`, httpFormats),
    {
      variable,
      cache: (make) => (source) => {
        const head = source['head'] ?? '';
        const text = kept.get(head) ?? make(source);
        kept.set(head, text);
        return text;
      },
    },
  );
  const source = { head: '1', http_z: 'z', http_a: 'a', http_b: 'b', status: '200', request_id: 'i' };
  assert.equal(format(source), 'z 200 "a" "b" i');
  read.length = 0;
  assert.equal(format({ ...source, status: '404' }), 'z 404 "a" "b" i');
  assert.deepEqual(read, ['http_z', 'status', 'request_id']);
  assert.equal(format({ ...source, head: '2', http_b: 'c' }), 'z 200 "a" "c" i');
});

test('times can be parsed again', () => {
  const first = Date.UTC(2025, 10, 21, 3, 4, 5, 678);
  for (const time of [first, first + 400, Date.UTC(2024, 0, 1), Date.UTC(2025, 5, 30, 23, 59, 59)]) {
    const [, day, month, year, clock, zone] = /^(\d+)\/(\w+)\/(\d+):(\S+) (\S+)$/.exec(localTime(time)) ?? [];
    assert.equal(Date.parse(`${day} ${month} ${year} ${clock} ${zone}`), Math.floor(time / 1000) * 1000);
    assert.equal(Date.parse(isoTime(time)), Math.floor(time / 1000) * 1000);
  }
  assert.deepEqual([0, 7.4, 42, 123, 61_005].map(seconds), ['0.000', '0.007', '0.042', '0.123', '61.005']);
});
