import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Verified, VerifiedTokens } from './verified-tokens.ts';

const verified: Verified = { claims: {}, details: {}, expiresAt: 0, name: 'x', credential: null, generation: 0 };

/** What a token of a client that sends it twice leads to. */
function setTwice(tokens: VerifiedTokens, token: string): void {
  tokens.set(token, verified);
  tokens.set(token, verified);
}

describe('verified tokens', () => {
  it('are found by their text', () => {
    const tokens = new VerifiedTokens();
    tokens.set('a.b.c', verified);
    assert.equal(tokens.get('a.b.c'), verified);
    assert.equal(tokens.get('a.b.d'), undefined);
  });
  it('are not found by the end of their signature', () => {
    const tokens = new VerifiedTokens();
    const signature = 'x'.repeat(342);
    tokens.set(`a.bb.${signature}`, verified);
    assert.equal(tokens.get(`a.bc.${signature}`), undefined);
    assert.equal(tokens.get(`a.bb.y${signature.slice(1)}`), undefined);
    assert.equal(tokens.get(`a.bb.${signature}`), verified);
  });
  it('are counted once, however often they are set', () => {
    const tokens = new VerifiedTokens();
    for (let times = 0; times < 5; times++) tokens.set('a.b.c', verified);
    assert.equal(tokens.characters, 5);
  });
  it('are bounded in number', () => {
    const tokens = new VerifiedTokens(10, 1e6);
    for (let at = 0; at < 1000; at++) setTwice(tokens, `token-${1000 + at}`);
    assert.ok(tokens.characters <= 100 && tokens.characters >= 50, String(tokens.characters));
    assert.equal(tokens.get('token-1999'), verified);
  });
  it('are bounded in characters', () => {
    const tokens = new VerifiedTokens(10_000, 1000);
    for (let at = 0; at < 1000; at++) {
      setTwice(tokens, `${at}`.padStart(1 + (at % 300), '-'));
      assert.ok(tokens.characters > 0 && tokens.characters <= 1000, String(tokens.characters));
    }
  });
  it('stay where others come only once', () => {
    const tokens = new VerifiedTokens(10, 1e6);
    tokens.set('kept', verified);
    for (let at = 0; at < 1000; at++) tokens.set(`token-${1000 + at}`, verified);
    assert.equal(tokens.get('kept'), verified);
    assert.equal(tokens.get('token-1999'), undefined);
    tokens.set('token-1999', verified);
    assert.equal(tokens.get('token-1999'), verified);
  });
  it('are not stored if too long', () => {
    const tokens = new VerifiedTokens();
    setTwice(tokens, 'x'.repeat(8193));
    assert.equal(tokens.get('x'.repeat(8193)), undefined);
    setTwice(tokens, 'x'.repeat(8192));
    assert.equal(tokens.get('x'.repeat(8192)), verified);
  });
});
