import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, map, set } from './collections.ts';
import { boolean, integer, number, string } from './fields.ts';
import { decodeForm, inferFromSchema, parseMultipart, parseUrlencoded } from './form.ts';
import { foreign, record } from './record.ts';

function decode(body: string): unknown {
  const pairs = parseUrlencoded(body);
  assert.ok(pairs !== null);
  const result = decodeForm(pairs);
  return result.ok ? JSON.parse(JSON.stringify(result.value)) : result.reason;
}

const decoded: readonly [body: string, value: unknown][] = [
  ['name=x', { name: 'x' }],
  ['name=a+b%26c', { name: 'a b&c' }],
  ['config.minute=5', { config: { minute: '5' } }],
  ['config[minute]=5', { config: { minute: '5' } }],
  ['config.limits.video.minute=1', { config: { limits: { video: { minute: '1' } } } }],
  ['headers[x.y]=v', { headers: { 'x.y': 'v' } }],
  ['config.headers[x-a][1]=v', { config: { headers: { 'x-a': ['v'] } } }],
  ['paths[]=/a&paths[]=/b', { paths: ['/a', '/b'] }],
  ['paths%5B%5D=/a&paths%5B%5D=/b', { paths: ['/a', '/b'] }],
  ['paths[2]=/b&paths[1]=/a', { paths: ['/a', '/b'] }],
  ['paths[0]=/a&paths[1]=/b', { paths: { 0: '/a', 1: '/b' } }],
  ['paths=/a&paths=/b', { paths: ['/a', '/b'] }],
  ['paths=/a&paths[]=/b', { paths: ['/a', '/b'] }],
  [
    'sources[1].ip=1.1.1.1&sources[1].port=80&sources[2].ip=2.2.2.2',
    {
      sources: [{ ip: '1.1.1.1', port: '80' }, { ip: '2.2.2.2' }],
    },
  ],
  ['tags=', { tags: '' }],
  ['flag', { flag: true }],
  ['.a=1&b.=2', { '.a': '1', 'b.': '2' }],
  ['name=100%&x=%ff', { name: '100%', x: '\ufffd' }],
  ['a=1&a.b=2', 'invalid'],
  ['__proto__.polluted=1', 'invalid'],
  ['a[__proto__]=1', 'invalid'],
  ['a[100000]=1', 'invalid'],
  [`${'a.'.repeat(40)}b=1`, 'invalid'],
];

for (const [body, value] of decoded) {
  test(`the form ${body.slice(0, 60)} becomes ${JSON.stringify(value)}`, () => {
    assert.deepEqual(decode(body), value);
  });
}

test('more than 1000 arguments are rejected', () => {
  assert.equal(parseUrlencoded(Array(1001).fill('a=1').join('&')), null);
  assert.equal(parseUrlencoded(Array(1000).fill('a=1').join('&'))?.length, 1000);
});

test('names of inherited properties are plain names', () => {
  assert.deepEqual(decode('constructor.prototype=1&toString=x'), {
    constructor: { prototype: '1' },
    toString: 'x',
  });
});

test('multipart parts are read as form fields, files by their content', () => {
  const body = [
    '--b',
    'Content-Disposition: form-data; name="name"',
    '',
    'x',
    '--b',
    'Content-Disposition: form-data; name="config.cert"; filename="c.pem"',
    'Content-Type: application/octet-stream',
    '',
    'content',
    '--b--',
    '',
  ].join('\r\n');
  assert.deepEqual(parseMultipart(Buffer.from(body), 'multipart/form-data; boundary=b'), [
    ['name', 'x'],
    ['config.cert', 'content'],
  ]);
});

test('a malformed multipart body is rejected', () => {
  assert.equal(parseMultipart(Buffer.from('--b\r\nnonsense'), 'multipart/form-data; boundary=b'), 'invalid');
  assert.equal(parseMultipart(Buffer.from('--b--\r\n'), 'multipart/form-data'), 'invalid');
});

test('more than 1000 parts are rejected, and a boundary may be quoted', () => {
  const part = '--a b\r\nContent-Disposition: form-data; name="n"\r\n\r\nx\r\n';
  const type = 'multipart/form-data; charset=utf-8; boundary="a b"';
  const read = (parts: number) => parseMultipart(Buffer.from(`${part.repeat(parts)}--a b--\r\n`), type);
  assert.equal(read(1000).length, 1000);
  assert.equal(read(1001), 'too many arguments');
});

const schema = record(
  {
    name: string(),
    port: integer(),
    ratio: number(),
    on: boolean(),
    tags: set(string()),
    ports: array(integer()),
    limits: map(string(), integer()),
    config: record({ minute: integer(), inner: record({ on: boolean() }) }),
    service: foreign('services'),
  },
  { shorthands: { size: { field: integer(), expand: (port: number) => ({ port }) } } },
);

const inferred: readonly [name: string, text: unknown, value: unknown][] = [
  ['name', '5', '5'],
  ['name', '', null],
  ['port', '80', 80],
  ['port', ' 0x10', 16],
  ['port', '1e3', 1000],
  ['port', '-5', -5],
  ['port', 'abc', 'abc'],
  ['port', 'Infinity', 'Infinity'],
  ['ratio', '.5', 0.5],
  ['on', 'true', true],
  ['on', 'false', false],
  ['on', '1', '1'],
  ['tags', 'a', ['a']],
  ['tags', '', null],
  ['tags', true, [true]],
  ['ports', ['1', ''], [1, null]],
  ['limits', { a: '1' }, { a: 1 }],
  ['limits', ['7'], { 1: 7 }],
  ['config', { minute: '5', inner: { on: 'true' } }, { minute: 5, inner: { on: true } }],
  ['service', { id: '' }, { id: null }],
  ['size', '5', 5],
  ['unknown', '5', '5'],
];

for (const [name, text, value] of inferred) {
  test(`the text ${JSON.stringify(text)} for ${name} becomes ${JSON.stringify(value)}`, () => {
    const output = inferFromSchema(schema, { [name]: text });
    assert.equal(JSON.stringify(output), JSON.stringify({ [name]: value }));
  });
}
