import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateToken, hashToken, isTokenShaped, shownPrefix } from './admin-token.ts';

test('a token has a prefix for scanners, 256 random bits and a checksum', () => {
  const tokens = Array.from({ length: 1000 }, generateToken);
  assert.equal(new Set(tokens).size, 1000);
  assert.equal(new Set(tokens.map(hashToken)).size, 1000);
  for (const token of tokens) {
    assert.match(token, /^sgadm_[0-9A-Za-z]{49}$/);
    assert.ok(isTokenShaped(token), token);
    assert.ok(token.startsWith(shownPrefix(token)) && shownPrefix(token).length === 10);
  }
});

test('other text is not shaped like a token', () => {
  const token = generateToken();
  const last = token.at(-1) === 'A' ? 'B' : 'A';
  for (const text of [
    '',
    'sgadm_',
    token.slice(1),
    `${token}0`,
    token.slice(0, -1) + last,
    ` ${token}`,
    `${token}\n`,
  ]) {
    assert.equal(isTokenShaped(text), false, text);
  }
});
