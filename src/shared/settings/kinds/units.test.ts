import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration, parseSize } from './units.ts';

test('times are parsed in the notation of nginx', () => {
  assert.equal(parseDuration('500ms', 's'), 500);
  assert.equal(parseDuration('60s', 'ms'), 60_000);
  assert.equal(parseDuration('1m', 's'), 60_000);
  assert.equal(parseDuration('1h 30m', 's'), 5_400_000);
  assert.equal(parseDuration('1h30m', 's'), 5_400_000);
  assert.equal(parseDuration('60', 's'), 60_000);
  assert.equal(parseDuration('60', 'ms'), 60);
});

test('an invalid time is rejected', () => {
  for (const text of ['', 'x', '-1', '1.5s', '1 x', 's', '99999999999999999999s']) {
    assert.equal(parseDuration(text, 's'), null, text);
  }
});

test('sizes are parsed in the notation of nginx', () => {
  assert.equal(parseSize('0'), 0);
  assert.equal(parseSize('8k'), 8192);
  assert.equal(parseSize('10M'), 10 * 1024 ** 2);
  assert.equal(parseSize('1g'), 1024 ** 3);
  for (const text of ['', 'k', '-1', '1.5m', '1kb', '99999999999999999g']) assert.equal(parseSize(text), null, text);
});
