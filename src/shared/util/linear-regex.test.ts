import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { compileRegex } from './linear-regex.ts';

const same: readonly [pattern: string, flags: string, texts: readonly string[]][] = [
  ['^/users/(?<id>\\d+)/orders$', '', ['/users/12/orders', '/users//orders', '/users/1/orders/']],
  ['a+b|c{2,3}d', '', ['aab', 'ccd', 'cccd', 'cd', 'xaaby']],
  ['(a|ab)(c|bcd)(d*)', '', ['abcd', 'acd', 'abcdd']],
  ['[^/a-c\\d]+x?', '', ['zzx', '/abc', 'q1']],
  ['^(?:foo|bar)(?:/.*)?$', '', ['/foo', 'foo', 'foo/', 'bar/x/y', 'foobar']],
  ['\\bfoo\\B', '', ['food', 'foo', 'afoo']],
  ['[]a]+', '', []],
  ['x{20,30}y', '', [`${'x'.repeat(25)}y`, 'xy']],
  ['(x{2}){3}', '', ['xxxxxx', 'xxxxx']],
  ['(?:a*)*b', '', ['aab', 'b', 'a']],
  ['a.c', '', ['abc', 'a\nc']],
  ['a.c', 's', ['abc', 'a\nc']],
  ['[a-f]{8}-[a-f]{4}', '', ['abcdefab-abcd']],
  ['a*?b', '', ['aab']],
  ['é+', '', ['éé', 'e']],
  ['\\x41\\u0042', '', ['AB']],
  ['(?i)hello W', '', []],
  ['hello', 'i', ['HELLO', 'heLLo']],
  ['(a){3}b', '', ['aaab', 'aab']],
  ['(a|b){18}c', '', [`${'ab'.repeat(9)}c`]],
  ['(a|b){2,}c', '', ['abc', 'ac', 'babac']],
];

test('an expression matches the same text and captures as in JavaScript', () => {
  for (const [pattern, flags, texts] of same) {
    const regex = compileRegex(pattern, flags);
    for (const text of texts) {
      assert.deepEqual(
        [...(regex.exec(text) ?? [])],
        [...(new RegExp(pattern, flags).exec(text) ?? [])],
        pattern + text,
      );
    }
  }
});

test('the spellings of Rust and RE2 are supported', () => {
  assert.equal(compileRegex('(?P<name>[[:alpha:]]+)\\z').exec('12ab')?.groups?.['name'], 'ab');
  assert.equal(compileRegex('^(?i)/Api/(?-i)V').test('/aPI/V'), true);
  assert.equal(compileRegex('^(?i)/Api/(?-i)V').test('/aPI/v'), false);
  assert.equal(compileRegex('^(?i:a)b$').test('AB'), false);
  assert.equal(compileRegex('[]a]').test(']'), true);
  assert.equal(compileRegex('[^]a]').test(']'), false);
  assert.equal(compileRegex('[[:^digit:]x-]').test('-'), true);
  assert.equal(compileRegex('\\Aa{b').test('a{b'), true);
});

test('an expression that cannot be matched in linear time, or has another meaning elsewhere, is rejected with the reason', () => {
  const refused: readonly [string, RegExp][] = [
    ['(?=a)b', /look-around/],
    ['(?<!a)b', /look-around/],
    ['(a)\\1', /back-references/],
    ['\\p{L}', /Unicode properties/],
    ['a++', /quantifier after a quantifier/],
    ['(?>a)', /unsupported kind of group/],
    ['*a', /nothing to repeat/],
    ['^*', /nothing to repeat/],
    ['(a', /missing '\)'/],
    ['a)', /unmatched '\)'/],
    ['[a', /missing '\]'/],
    ['[z-a]', /out of order/],
    ['[a[b]]', /must be escaped/],
    ['[a&&b]', /set operations/],
    ['a{3,2}', /out of order/],
    ['a{2000}', /above 1000/],
    ['((a{100}){100}){100}', /too large/],
    [`${'('.repeat(60)}a${')'.repeat(60)}`, /nested deeper/],
    ['(?<a>x)(?<a>y)', /two groups named 'a'/],
    ['(?x)a', /unsupported flag 'x'/],
    ['\\q', /unknown escape/],
    ['\\', /unexpected end/],
    ['a'.repeat(9000), /longer than/],
  ];
  for (const [pattern, reason] of refused) assert.throws(() => compileRegex(pattern), reason, pattern);
  assert.throws(() => compileRegex('a', 'm'), /unknown regular expression flag 'm'/);
});

const hostile: readonly [pattern: string, text: string][] = [
  ['^(a+)+$', `${'a'.repeat(8000)}b`],
  ['(a+)+$', `${'a'.repeat(8000)}b`],
  ['^(?:a|aa)+$', `${'a'.repeat(8000)}b`],
  ['(x+x+)+y', 'x'.repeat(8000)],
  ['(.*)(.*)(.*)(.*)(.*)y', 'x'.repeat(8000)],
  ['a+b', 'a'.repeat(8000)],
  ['^(?:a*)*$', `${'a'.repeat(8000)}b`],
  ['(?i)^(a|A)+$', `${'aA'.repeat(4000)}b`],
  [`^${'a?'.repeat(100)}${'a'.repeat(100)}$`, 'a'.repeat(100)],
  [`^(?:${'(?:|x?)'.repeat(20)})$`, 'y'],
  ['^(\\w+\\s?)*$', `${'word '.repeat(1600)}!`],
  ['^([^/]+)/([^/]+)/?$', `${'x'.repeat(8000)}/${'y'.repeat(8000)}//`],
];

test('an expression that backtracks exponentially elsewhere answers at once', () => {
  for (const [pattern, text] of hostile) {
    const regex = compileRegex(pattern);
    for (let round = 0; round < 3; round++) {
      const started = process.cpuUsage().user;
      regex.test(text);
      assert.ok(process.cpuUsage().user - started < 200_000, `${pattern} took too long`);
    }
  }
});

test('the linear engine works in a worker thread', async () => {
  const url = new URL('./linear-regex.ts', import.meta.url).href;
  const code = `import(${JSON.stringify(url)}).then(({ compileRegex }) =>
    require('node:worker_threads').parentPort.postMessage(compileRegex('^(?<all>(?:a|ab)+)$').exec('aaba').groups.all));`;
  const worker = new Worker(code, { eval: true });
  const answer = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  assert.equal(answer, 'aaba');
  await worker.terminate();
});

test('random expressions agree with the ordinary engine', () => {
  let seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  const first = seed;
  const random = (n: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
  const atoms = ['a', 'b', 'c', '/', '[ab]', '[^/]', '.', '\\w', '(a|b)', '(?:ab|c)', '(b)', '(?:a|)'];
  const quantifiers = ['', '', '', '*', '+', '?', '{2}', '{1,3}', '*?'];
  for (let i = 0; i < 3000; i++) {
    let pattern = random(2) === 0 ? '^' : '';
    for (let n = 1 + random(5); n > 0; n--)
      pattern += atoms[random(atoms.length)]! + quantifiers[random(quantifiers.length)]!;
    if (random(3) === 0) pattern += '$';
    const text = Array.from({ length: random(9) }, () => 'abc/'[random(4)]).join('');
    const got = compileRegex(pattern).exec(text);
    const expected = new RegExp(pattern).exec(text);
    assert.equal(got?.[0], expected?.[0], `${pattern} on ${text}, seed ${first}`);
    assert.equal(got?.index, expected?.index, `${pattern} on ${text}, seed ${first}`);
  }
});
