import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfFile } from './conf-file.ts';

test('keys, values, comments and quotes are parsed', () => {
  const content =
    '\ufeff# head\n\nlog_level = debug # why\r\npg_password = a\\#b=c\nprefix="/var/lib/with space"\nplugins =\n';
  assert.deepEqual(parseConfFile('x.conf', content), [
    { name: 'log_level', text: 'debug', line: 3 },
    { name: 'pg_password', text: 'a#b=c', line: 4 },
    { name: 'prefix', text: '/var/lib/with space', line: 5 },
    { name: 'plugins', text: '', line: 6 },
  ]);
});

test('an invalid line is reported with its position', () => {
  assert.throws(() => parseConfFile('x.conf', 'a = 1\nnonsense\n'), {
    message: 'x.conf line 2: expected "key = value", found \'nonsense\'',
  });
  assert.throws(() => parseConfFile('x.conf', '= 1'), /line 1/);
});

test('a repeated key is rejected', () => {
  assert.throws(() => parseConfFile('x.conf', 'a = 1\na = 2\n'), {
    message: 'x.conf line 2: a is already set on line 1',
  });
});
