import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerMap, headerValue, headerValues } from './header-block.ts';

test('a field is found whatever the first character of its name', () => {
  const names = [..."!#$%&'*+-.^_`|~09azAZ"].map((first) => `${first}-key`);
  for (const name of names) {
    const block = `Other: 1\r\n${name}: a\r\nX-${name}: 2\r\n${name.toUpperCase()}: b\r\n`;
    const lower = name.toLowerCase();
    assert.equal(headerValue(block, lower), 'a', name);
    assert.deepEqual(headerValues(block, lower), ['a', 'b'], name);
    assert.deepEqual(headerMap(block)[lower], ['a', 'b'], name);
  }
});
