import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Verified, VerifiedTokens } from './verified-tokens.ts';

const verified: Verified = { claims: {}, details: {}, expiresAt: 0, name: 'x', credential: null, generation: 0 };

describe('verified tokens', () => {
  it('are found by their text', () => {
    const tokens = new VerifiedTokens();
    tokens.set(tokens.keyOf('a.b.c')!, verified);
    assert.equal(tokens.get(tokens.keyOf('a.b.c')!), verified);
    assert.equal(tokens.get(tokens.keyOf('a.b.d')!), undefined);
  });
  it('are counted once, however often they are set', () => {
    const tokens = new VerifiedTokens();
    for (let times = 0; times < 5; times++) tokens.set(tokens.keyOf('a.b.c')!, verified);
    assert.equal(tokens.characters, 5);
  });
  it('are bounded in number', () => {
    const tokens = new VerifiedTokens(10, 1e6);
    for (let at = 0; at < 1000; at++) tokens.set(tokens.keyOf(`token-${1000 + at}`)!, verified);
    assert.ok(tokens.characters <= 100 && tokens.characters >= 50, String(tokens.characters));
    assert.equal(tokens.get(tokens.keyOf('token-1999')!), verified);
  });
  it('are bounded in characters', () => {
    const tokens = new VerifiedTokens(10_000, 1000);
    for (let at = 0; at < 1000; at++) {
      tokens.set(tokens.keyOf(`${at}`.padStart(1 + (at % 300), '-'))!, verified);
      assert.ok(tokens.characters > 0 && tokens.characters <= 1000, String(tokens.characters));
    }
  });
  it('are not stored if too long', () => {
    const tokens = new VerifiedTokens();
    assert.equal(tokens.keyOf('x'.repeat(8193)), null);
    assert.notEqual(tokens.keyOf('x'.repeat(8192)), null);
  });
});
