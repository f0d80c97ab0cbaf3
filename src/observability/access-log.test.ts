import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessFields } from './access-log.ts';
import { formatAccessLine } from './access-log.ts';

const fields: AccessFields = {
  remoteAddr: '10.1.2.3',
  remoteUser: null,
  time: Date.UTC(2025, 10, 21, 3, 4, 5, 678),
  request: 'GET /users/42?a=b HTTP/1.1',
  status: 200,
  bodyBytesSent: 234,
  referer: null,
  userAgent: 'curl/8.0',
  requestId: '0123456789abcdef0123456789abcdef',
};

test('a line has the format of Kong', () => {
  assert.match(
    formatAccessLine(fields),
    /^10\.1\.2\.3 - - \[\d\d\/Nov\/2025:\d\d:\d\d:05 [+-]\d{4}\] "GET \/users\/42\?a=b HTTP\/1\.1" 200 234 "-" "curl\/8\.0" kong_request_id: "0123456789abcdef0123456789abcdef"$/,
  );
});

test('the time can be read back', () => {
  for (const time of [fields.time, fields.time + 400, Date.UTC(2024, 0, 1), Date.UTC(2025, 5, 30, 23, 59, 59)]) {
    const text = /\[(.*?)\]/.exec(formatAccessLine({ ...fields, time }))?.[1] ?? '';
    const [, day, month, year, clock, zone] = /^(\d+)\/(\w+)\/(\d+):(\S+) (\S+)$/.exec(text) ?? [];
    assert.equal(Date.parse(`${day} ${month} ${year} ${clock} ${zone}`), Math.floor(time / 1000) * 1000);
  }
});

test('without a request id the field is left out', () => {
  assert.match(formatAccessLine({ ...fields, requestId: null }), /"curl\/8\.0"$/);
});

test('nothing in a field can end the line or the field', () => {
  const line = formatAccessLine({
    ...fields,
    remoteUser: 'a b"\n',
    request: 'GET /"\r\n\\ HTTP/1.1',
    referer: '\x00\x1f\x7f',
    userAgent: '\xc3\xa9\u20ac',
  });
  assert.match(line, /^10\.1\.2\.3 - a\\x20b\\x22\\x0A \[/);
  assert.ok(line.includes('"GET /\\x22\\x0D\\x0A\\x5C HTTP/1.1"'));
  assert.ok(line.includes('"\\x00\\x1F\\x7F"'));
  assert.ok(line.includes('"\\xC3\\xA9\\xE2\\x82\\xAC"'));
  assert.match(line, /^[\x20-\x7e]+$/);
});

test('an empty field is a dash', () => {
  assert.ok(formatAccessLine({ ...fields, referer: '', userAgent: '' }).includes('200 234 "-" "-"'));
});
