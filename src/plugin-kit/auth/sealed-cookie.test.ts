import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestView } from '../../plugin-sdk/request-views.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import { sealer } from './seal.ts';
import { type SealedCookie, sealedCookie } from './sealed-cookie.ts';
import { sharedSecret } from './shared-secret.ts';

const secret = 'a secret of the tests, thirty-two+';
const soon = Math.floor(Date.now() / 1000) + 60;
const attributes: CookieAttributes = { path: '/', domain: null, sameSite: 'Strict', httpOnly: true, secure: true };

function cookie(options: { secret?: string; purpose?: string; name?: string; now?: () => number } = {}): SealedCookie {
  return sealedCookie({ secret, purpose: 'test', name: 'session', attributes, ...options });
}

/** A request whose only readable part are its cookies. */
function requestWith(...lines: readonly string[]): RequestView {
  return { headerValues: (name: string) => (name === 'cookie' ? lines : []) } as unknown as RequestView;
}

function pairs(setCookies: readonly string[] | null): readonly string[] {
  assert.ok(setCookies !== null);
  return setCookies.map((line) => line.slice(0, line.indexOf(';')));
}

const none = requestWith();

test('what was sealed is opened, and its text is not to be seen', () => {
  const [line] = pairs(cookie().write(none, 'Grüße, ada', soon));
  assert.match(line!, /^session=1\.[A-Za-z0-9_-]+$/);
  assert.ok(!Buffer.from(line!.slice(10), 'base64url').includes('ada'));
  assert.equal(cookie().read(requestWith(line!)), 'Grüße, ada');
});

test('the same text is never sealed alike', () => {
  const { seal } = sealer(secret, 'test');
  assert.equal(new Set(Array.from({ length: 100 }, () => seal('same', soon))).size, 100);
});

test('a change of any character makes it invalid', () => {
  const { seal, open } = sealer(secret, 'test');
  const sealed = seal('who: ada', soon);
  for (let at = 0; at < sealed.length; at += 1) {
    for (const other of ['A', '_', '=', ' ', '']) {
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      if (changed !== sealed) assert.equal(open(changed), null, `${at} ${other}`);
    }
  }
  assert.equal(open(`${sealed}A`), null);
  assert.equal(open(sealed), 'who: ada');
});

test('the last character has one spelling only', () => {
  const { seal, open } = sealer(secret, 'test');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const text of ['1', '12', '123']) {
    const sealed = seal(text, soon);
    const valid = [...alphabet].filter((last) => open(sealed.slice(0, -1) + last) !== null);
    assert.deepEqual(valid, [sealed.at(-1)]);
  }
});

test('short, empty and foreign texts are not opened', () => {
  const { open } = sealer(secret, 'test');
  for (const text of ['', 'A', 'AQ', 'A'.repeat(53), 'x'.repeat(100_000), '=='.repeat(40), 'é'.repeat(80)]) {
    assert.equal(open(text), null);
  }
});

test('another secret, purpose or cookie name does not open it', () => {
  const [line] = pairs(cookie().write(none, 'content', soon));
  assert.equal(cookie({ secret: `${secret}!` }).read(requestWith(line!)), null);
  assert.equal(cookie({ purpose: 'other' }).read(requestWith(line!)), null);
  assert.equal(cookie({ name: 'other' }).read(requestWith(line!.replace('session', 'other'))), null);
});

test('it is over at its second', () => {
  let now = (soon - 1) * 1000;
  const timed = cookie({ now: () => now });
  const request = requestWith(pairs(timed.write(none, 'content', soon))[0]!);
  for (let use = 0; use < 2; use += 1) assert.equal(timed.read(request), 'content');
  now = soon * 1000;
  assert.equal(timed.read(request), null);
});

test('a large content is sent in parts that a browser keeps, and none may be missing or be exchanged', () => {
  const content = 'x'.repeat(12_000);
  const lines = cookie().write(none, content, soon) ?? [];
  assert.ok(lines.length > 3);
  for (const line of lines) assert.ok(line.length <= 4000);
  const parts = pairs(lines);
  assert.equal(cookie().read(requestWith(parts.join('; '))), content);
  assert.equal(cookie().read(requestWith(...parts.toReversed())), content);
  assert.equal(cookie().read(requestWith(...parts.slice(0, -1))), null);
  const others = pairs(cookie().write(none, content, soon));
  assert.equal(cookie().read(requestWith(parts[0]!, others[1]!, ...parts.slice(2))), null);
});

test('a content that is too large is not written', () => {
  assert.equal(cookie().write(none, 'x'.repeat(20_000), soon), null);
});

test('parts that are left over are removed, and do no harm while they last', () => {
  const large = pairs(cookie().write(none, 'x'.repeat(6000), soon));
  const lines = cookie().write(requestWith(large.join('; ')), 'small', soon) ?? [];
  assert.match(lines[1]!, /^session_2=; Path=\/; Max-Age=0;/);
  assert.equal(lines.filter((line) => line.includes('Max-Age=0')).length, large.length - 1);
  assert.equal(cookie().read(requestWith(pairs(lines)[0]!, ...large.slice(1))), 'small');
});

test('a foreign cookie of the same name in front does not hide the valid one', () => {
  const [line] = pairs(cookie().write(none, 'content', soon));
  assert.equal(cookie().read(requestWith(`session=1.planted; ${line}`)), 'content');
  assert.equal(cookie().read(requestWith(`session=9.x; session=; session=1.; session; ${line}`)), 'content');
});

test('removal names every part that the request showed', () => {
  const lines = cookie().clear(requestWith('session=2.a; session_2=b; other=c'));
  assert.deepEqual(pairs(lines), ['session=', 'session_2=']);
  for (const line of lines) assert.match(line, /; Max-Age=0;.*; Expires=Thu, 01 Jan 1970 00:00:00 GMT$/);
});

test('attributes are those that were asked for', () => {
  const plain = { path: '/app', domain: 'example.com', sameSite: null, httpOnly: false, secure: false };
  const lines = sealedCookie({ secret, purpose: 'test', name: 'a', attributes: plain }).write(none, 'x', soon, 90.5);
  assert.match(lines?.[0] ?? '', /^a=1\.[\w-]+; Path=\/app; Domain=example\.com; Max-Age=90$/);
  const [strict] = cookie().write(none, 'x', soon) ?? [];
  assert.match(strict!, /; Path=\/; SameSite=Strict; Secure; HttpOnly$/);
});

test('a shared secret is the same for all who share the memory, and for nobody else', () => {
  const memory = new SharedArrayBuffer(4096);
  const first = sharedSecret(memory);
  assert.match(first, /^[A-Za-z0-9+/]{43}=$/);
  assert.equal(sharedSecret(memory), first);
  assert.notEqual(sharedSecret(new SharedArrayBuffer(4096)), first);
});
