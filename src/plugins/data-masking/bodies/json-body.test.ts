import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRules } from '../rules/rules.ts';
import { type RuleInput, ruleConfig } from '../testing/rule-config.ts';
import { JsonMasker } from './json-body.ts';

function masked(text: string, ...rules: readonly RuleInput[]): string {
  return new JsonMasker(compileRules(rules.map(ruleConfig), 'a key of sixteen')).text(text);
}

/** The document of RFC 9535 figure 1, with what the path selects replaced by 0. */
function marked(path: string): string {
  return masked(JSON.stringify(bookstore), { json_paths: [path], text: '0' });
}

const bookstore = {
  store: {
    book: [
      { category: 'reference', author: 'Nigel Rees', title: 'Sayings of the Century', price: 8.95 },
      { category: 'fiction', author: 'Evelyn Waugh', title: 'Sword of Honour', price: 12.99 },
      { category: 'fiction', author: 'Herman Melville', title: 'Moby Dick', isbn: '0-553-21311-3', price: 8.99 },
      { category: 'fiction', author: 'J. R. R. Tolkien', title: 'The Lord', isbn: '0-395-19395-8', price: 22.99 },
    ],
    bicycle: { color: 'red', price: 399 },
  },
};

/** The same document with '0' at these JSON pointers. */
function changed(...pointers: readonly string[]): string {
  const copy = structuredClone(bookstore);
  for (const pointer of pointers) {
    const names = pointer.split('/');
    const last = names.pop() as string;
    let place: object = copy;
    for (const name of names) place = Reflect.get(place, name);
    Reflect.set(place, last, '0');
  }
  return JSON.stringify(copy);
}

const books = [0, 1, 2, 3].map((at) => `store/book/${at}`);

test('paths of RFC 9535 select the values of its examples', () => {
  for (const path of ['$.store.book[*].author', '$..author', "$['store']['book'][*]['author']"]) {
    assert.equal(marked(path), changed(...books.map((book) => `${book}/author`)), path);
  }
  assert.equal(marked('$.store.*'), changed('store/book', 'store/bicycle'));
  assert.equal(marked('$.store..price'), changed('store/bicycle/price', ...books.map((book) => `${book}/price`)));
  for (const path of ['$..book[2]', '$..book[-2]', '$..book[2:3]', '$.store.book[?@.title == "Moby Dick"]']) {
    assert.equal(marked(path), changed('store/book/2'), path);
  }
  for (const path of ['$..book[0,1]', '$..book[:2]', '$..book[?!@.isbn]', '$..book[-4:-2]', '$..book[1::-1]']) {
    assert.equal(marked(path), changed('store/book/0', 'store/book/1'), path);
  }
  for (const path of [
    '$..book[?@.price<10]',
    '$..book[::2]',
    '$..book[2::-2]',
    '$..book[?match(@.author, "[NH].*")]',
  ]) {
    assert.equal(marked(path), changed('store/book/0', 'store/book/2'), path);
  }
  assert.equal(marked('$..book[?search(@.title, "D.ck$")]'), changed('store/book/2'));
  assert.equal(marked('$..book[?length(@.title) > 16]'), changed('store/book/0'));
  assert.equal(marked('$..book[?@.price > $.store.book[1].price].title'), changed('store/book/3/title'));
  assert.equal(marked('$..book[0]["title","author"]'), changed('store/book/0/title', 'store/book/0/author'));
  assert.equal(marked('$'), '"0"');
  for (const path of ['$.store.nothing', '$.store.book.author', '$.store.book[9]'])
    assert.equal(marked(path), changed());
});

test('descendants of descendants, and paths that lead to the same value', () => {
  assert.equal(
    masked('{"a":{"a":{"b":"x"},"b":"y"},"b":"z"}', { json_paths: ['$..a..b'] }),
    '{"a":{"a":{"b":"***"},"b":"***"},"b":"z"}',
  );
  assert.equal(masked('{"a":["x",["y"]]}', { json_paths: ['$..*[0]'] }), '{"a":["***",["***"]]}');
  assert.equal(
    masked(
      '{"a":{"b":"4111111111111111"}}',
      { json_paths: ['$.a'], kinds: ['card'], action: 'keep_last' },
      { json_paths: ['$..b'] },
    ),
    '{"a":{"b":"***"}}',
  );
});

test('an unsupported path is refused with the reason', () => {
  for (const path of [
    '',
    'a',
    '$.',
    '$[',
    '$.a[?@.b',
    '$..',
    '$.a b',
    '$[?match(@.a, @.b)]',
    '$[?match(@.a, "(")]',
    '$[?nothing(@.a)]',
    '$[?@..a]',
    '$[?count($.*) > 1]',
    '$[?search(@.a, "(?=a)")]',
  ]) {
    assert.throws(() => new JsonMasker(compileRules([ruleConfig({ json_paths: [path] })], null)), Error, path);
  }
});

test('filters see the original body', () => {
  const filter = { json_paths: ['$[?@.type == 1].secret'] };
  // Numbers with their original text, values that another rule masks, the last of two members.
  assert.equal(masked('[{"type":1e0,"secret":"x"}]', filter), '[{"type":1e0,"secret":"***"}]');
  assert.equal(
    masked('[{"type":1.0000000000000000,"secret":"x"}]', filter),
    '[{"type":1.0000000000000000,"secret":"***"}]',
  );
  assert.equal(
    masked('[{"type":1,"secret":"x"}]', { json_paths: ['$..type'] }, filter),
    '[{"type":"***","secret":"***"}]',
  );
  assert.equal(masked('[{"type":2,"type":1,"secret":"x"}]', filter), '[{"type":1,"secret":"***"}]');
});

test('values of every type are masked, except null', () => {
  const text = '{"a":"x","b":1,"c":true,"d":null,"e":{"f":"x"},"g":["x"],"h":12345678901234567890,"i":""}';
  const paths = { json_paths: ['$.*'] };
  assert.equal(masked(text, paths), '{"a":"***","b":"***","c":"***","d":null,"e":"***","g":"***","h":"***","i":""}');
  assert.equal(
    masked(text, { ...paths, action: 'keep_last' }),
    '{"a":"***","b":"***","c":"***","d":null,"e":"***","g":"***","h":"***7890","i":""}',
  );
  assert.match(masked(text, { ...paths, action: 'hash' }), /^\{"a":"[0-9a-f]{16}","b":"[0-9a-f]{16}",.*"d":null/);
});

test('unmasked values are unchanged', () => {
  const text =
    '{"n":12345678901234567890,"e":1.5e400,"f":0.1000000000000000055,"u":"\u00e4\\u0000","__proto__":{"x":1},"constructor":2}';
  assert.equal(masked(text, { json_paths: ['$.nothing'] }), text);
});

test('names with a meaning in JavaScript are ordinary names', () => {
  assert.equal(
    masked('{"__proto__":{"email":"x"},"constructor":{"prototype":"y"}}', {
      json_paths: ['$..email', '$.constructor.prototype'],
    }),
    '{"__proto__":{"email":"***"},"constructor":{"prototype":"***"}}',
  );
  assert.equal(masked('{"__proto__":"ada@example.com","a":1}', { kinds: ['email'] }), '{"__proto__":"***","a":1}');
  assert.equal(masked('{"a":{"__proto__":"x"}}', { json_paths: ['$.a.__proto__'] }), '{"a":{"__proto__":"***"}}');
  assert.equal(masked('{"a":1}', { json_paths: ['$.a.__proto__', '$.toString'] }), '{"a":1}');
  assert.equal(Reflect.get({}, 'email'), undefined);
});

test('no value of a duplicate name remains', () => {
  assert.equal(masked('{"a":"secret","a":"other"}', { json_paths: ['$.a'] }), '{"a":"***"}');
  assert.equal(masked('{"a":"ada@example.com","a":1}', { kinds: ['email'] }), '{"a":1}');
  assert.equal(masked('{"\\u0061":"secret"}', { json_paths: ['$.a'] }), '{"a":"***"}');
});

test('kinds are found in strings, in numbers and, with mask_names, in names', () => {
  const rule = { kinds: ['email', 'card'] };
  const text =
    '{"ada@example.com":["x ada@example.com y",4111111111111111,{"\\u0061\\u0040b.de":"a\\u0040b.de"},1.5,true]}';
  assert.equal(masked(text, rule), '{"ada@example.com":["x *** y","***",{"a@b.de":"***"},1.5,true]}');
  assert.equal(masked(text, { ...rule, mask_names: true }), '{"***":["x *** y","***",{"***":"***"},1.5,true]}');
  assert.equal(
    masked('{"a@b.de":1,"c@d.de":2,"***":3}', { ...rule, mask_names: true }),
    '{"*** (2)":1,"*** (3)":2,"***":3}',
  );
  assert.equal(
    masked('{"a":"a@b.de","c":{"d":"a@b.de","e":["a@b.de"]}}', { ...rule, json_paths: ['$.c'] }),
    '{"a":"a@b.de","c":{"d":"***","e":["***"]}}',
  );
  // A path continues below a searched value, even if names are masked.
  assert.equal(
    masked('{"a@b.de":{"c":"x"}}', { ...rule, json_paths: ['$'], mask_names: true }, { json_paths: ["$['a@b.de'].c"] }),
    '{"***":{"c":"***"}}',
  );
});

test('a nesting of 100,000 levels is refused, one of 500 is masked', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}"ada@example.com"${'}'.repeat(depth)}`;
  assert.throws(() => masked(nested(100_000), { kinds: ['email'] }), /nested deeper/);
  for (const rule of [
    { kinds: ['email'] },
    { json_paths: ['$..a'], kinds: ['email'] },
    { json_paths: ['$..a..a..a'], kinds: ['email'] },
  ]) {
    assert.equal(masked(nested(500), rule), nested(500).replace('ada@example.com', '***'));
  }
});

test('lines of JSON are masked one by one', () => {
  const masker = new JsonMasker(compileRules([ruleConfig({ json_paths: ['$.a'] })], null));
  const lines = (text: string) => Buffer.from(masker.lines(Buffer.from(text))).toString();
  assert.equal(lines('{"a":1}\n\n{"a":2,"b":3}\r\n'), '{"a":"***"}\n\n{"a":"***","b":3}\n');
  assert.throws(() => lines('{"a":1}\n{"a":'), /line 2/);
});
