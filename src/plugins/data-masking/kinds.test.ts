import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { type KindName, kinds } from './kinds/kinds.ts';

/** The values that are found, in order. */
function found(kind: KindName, text: string): readonly string[] {
  return kinds[kind](text).map(({ start, end }) => text.slice(start, end));
}

/** Each value is found as a whole: alone, within a text, and between punctuation marks. */
function isFound(kind: KindName, ...values: readonly string[]): void {
  for (const value of values) {
    assert.deepEqual(found(kind, value), [value], value);
    assert.deepEqual(found(kind, `see ${value}, and more`), [value], value);
    assert.deepEqual(found(kind, `<${value}>;`), [value], value);
  }
}

function isNotFound(kind: KindName, ...texts: readonly string[]): void {
  for (const text of texts) assert.deepEqual(found(kind, text), [], text);
}

test('email addresses', () => {
  isFound(
    'email',
    'ada@example.com',
    'a@b.co',
    'ada.love+tag@sub.example.co.uk',
    "o'brien@example.ie",
    'x_y-z%q@ex-ample.org',
  );
  isFound(
    'email',
    'jürgen@münchen.de',
    '用户@例子.公司',
    'ελλάδα@παράδειγμα.ελ',
    'a@xn--bcher-kva.example',
    'उदाहरण@उदाहरण.भारत',
  );
  isFound(
    'email',
    '"ada love"@example.com',
    'ada@[192.0.2.1]',
    'ada@[IPv6:2001:db8::1]',
    'ada%40example.com',
    'ADA@EXAMPLE.COM',
  );
  isNotFound(
    'email',
    '',
    '@',
    'a@',
    '@b.de',
    'user@localhost',
    'pkg@1.2.3',
    'logo@2x.png',
    '@media print',
    'a @ b.de',
    'a@.de',
    'a@b.1',
  );
  assert.deepEqual(found('email', 'mail ada@example.com. Or bob@example.org!'), ['ada@example.com', 'bob@example.org']);
  assert.deepEqual(found('email', 'https://x.test/?mail=ada@example.com&b=1'), ['ada@example.com']);
  assert.deepEqual(found('email', 'mailto:ada@example.com?subject=x'), ['ada@example.com']);
  assert.deepEqual(found('email', 'a@b.de@c.de'), ['a@b.de']);
});

test('card numbers', () => {
  // Test numbers of the networks.
  isFound('card', '4111111111111111', '5555555555554444', '2223003122003222', '378282246310005', '30569309025904');
  isFound(
    'card',
    '3530111333300000',
    '6011111111111117',
    '6304000000000000',
    '6200000000000005',
    '2200000000000053',
    '4222222222222',
  );
  isFound(
    'card',
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    '4111\u00a01111\u00a01111\u00a01111',
    '4111.1111.1111.1111',
  );
  isFound('card', '3782 822463 10005', '4111 - 1111 - 1111 - 1111', '4111–1111–1111–1111');
  isNotFound('card', '4111111111111112', '1234567890123', '0000000000000000', '41111111111111111', '7111111111111116');
  // A time in milliseconds, one in microseconds, an IMEI, a UUID, a long number that contains a card number.
  isNotFound(
    'card',
    '1764000000000',
    '1764000000000000',
    '356938035643809',
    '4111-1111-4111-8111-1111111111117',
    '994111111111111111199',
  );
  assert.deepEqual(found('card', 'order 12345 4111 1111 1111 1111 99'), ['4111 1111 1111 1111']);
  assert.deepEqual(found('card', '4111111111111111/12/27'), ['4111111111111111']);
  assert.deepEqual(found('card', '4111111111111111 5555555555554444'), ['4111111111111111', '5555555555554444']);
});

test('IBANs', () => {
  isFound('iban', 'DE89370400440532013000', 'GB82WEST12345698765432', 'FR1420041010050500013M02606', 'NO9386011117947');
  isFound(
    'iban',
    'DE89 3704 0044 0532 0130 00',
    'gb82 west 1234 5698 7654 32',
    'MT84MALT011000012345MTLCAST001S',
    'SA0380000000608010167519',
  );
  isFound('iban', 'BR1800360305000010009795493C1', 'CH93-0076-2011-6238-5295-7', 'LC55HEMM000100010012001200023015');
  isNotFound(
    'iban',
    'DE89370400440532013001',
    'DE8937040044053201300',
    'XX89370400440532013000',
    'DE893704004405320130000',
    'ADE89370400440532013000',
  );
  assert.deepEqual(found('iban', 'IBAN: DE89 3704 0044 0532 0130 00 please'), ['DE89 3704 0044 0532 0130 00']);
});

test('telephone numbers', () => {
  isFound(
    'phone',
    '+44 20 7946 0958',
    '+49 (0)30 1234567',
    '+1-212-555-0100',
    '+33123456789',
    '+81 3-1234-5678',
    '+86 138 0013 8000',
  );
  isFound(
    'phone',
    '0049 30 1234567',
    '00442079460958',
    '(212) 555-0100',
    '212-555-0100',
    '212.555.0100',
    '1-212-555-0100',
  );
  isFound(
    'phone',
    '030 12345678',
    '(030) 12345678',
    '0171/1234567',
    '06 12 34 56 78',
    '01.23.45.67.89',
    '020 7946 0958',
    '(11) 91234-5678',
  );
  isNotFound(
    'phone',
    '2026-11-21',
    '01.02.2026',
    '21.11.2026',
    '12:30',
    '1234567',
    '0123456789',
    '4111111111111111',
    '3.14159265358979',
  );
  isNotFound(
    'phone',
    '1764000000000',
    'a+1',
    '+12',
    '0.0012345678901',
    '10.20.30.40',
    '2026-11-21T12:30:45.123456789Z',
    '01.02.2026 12.30',
  );
});

test('IP addresses', () => {
  isFound(
    'ip',
    '192.0.2.1',
    '255.255.255.255',
    '10.0.0.1',
    '2001:db8::1',
    '::1',
    'fe80::1%eth0',
    '2001:0db8:85a3:0000:0000:8a2e:0370:7334',
  );
  isFound('ip', '::ffff:192.0.2.1', '2001:DB8:0:0:8:800:200C:417A', '64:ff9b::192.0.2.33');
  isNotFound(
    'ip',
    '256.1.1.1',
    '1.2.3',
    '1.2.3.4.5',
    '12:30:45',
    'aa:bb:cc:dd:ee:ff',
    'std::vector',
    '::',
    'a::b',
    'x1::2',
  );
  assert.deepEqual(found('ip', 'at 192.0.2.1:8080 and [2001:db8::1]:443.'), ['192.0.2.1', '2001:db8::1']);
  assert.deepEqual(found('ip', 'It is 2001:db8::1. Or 192.0.2.1.'), ['2001:db8::1', '192.0.2.1']);
});

test('JSON web tokens', () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'ada' })}.c2lnbmF0dXJlLXNpZ25hdHVyZQ`;
  isFound(
    'jwt',
    signed,
    `${part({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a2V5.aXY.Y2lwaGVy.dGFn`,
    `${part({ alg: 'HS256' })}..c2lnbmF0dXJl`,
  );
  assert.deepEqual(found('jwt', `Bearer ${signed}`), [signed]);
  assert.deepEqual(found('jwt', `token=${signed}&x=1`), [signed]);
  const unsigned = `${part({ alg: 'none' })}.${part({ sub: 'ada' })}.`;
  assert.deepEqual(found('jwt', `a ${unsigned} b`), [unsigned]);
  isNotFound(
    'jwt',
    'eyJ',
    'eyJhbGciOiJIUzI1NiJ9',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ',
    'www.example.com',
    'eyJ.a.b',
    signed.replaceAll('.', ','),
  );
});

/** Texts on which a search with backtracking would take very long. */
const hostile: readonly (readonly [name: string, unit: string])[] = [
  ['digits', '4'],
  ['groups of digits', '4 '],
  ['groups', '4111 '],
  ['signs', '@'],
  ['addresses without an end', 'a@'],
  ['letters', 'a'],
  ['dots', 'a.'],
  ['escapes', '%4'],
  ['marks of tokens', 'eyJ'],
  ['parts of tokens', 'eyJhbGciOiJI.'],
  ['colons', ':'],
  ['hexadecimal groups', 'a1:'],
  ['numbers of addresses', '1.'],
  ['zeros', '00'],
  ['national groups', '012 '],
  ['plus signs', '+1'],
  ['beginnings of IBANs', 'DE89'],
  ['beginnings of IBANs, apart', 'DE89 '],
  ['parentheses', '(030) '],
  ['quotation marks', '"@'],
];

test('the time is linear in the length of any text', () => {
  for (const [name, unit] of hostile) {
    const text = unit.repeat(Math.ceil(50_000 / unit.length));
    for (const [kind, find] of Object.entries(kinds)) {
      const start = cpuTime();
      find(text);
      const taken = cpuTime() - start;
      assert.ok(taken < 1000, `${kind} in ${name}: ${taken} ms`);
    }
  }
});
