import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../../test/support/cpu-time.ts';
import { DocumentError } from '../contract.ts';
import { documentFrom, parseDocument } from './parse-document.ts';

function refusal(text: string): string {
  try {
    parseDocument(text);
  } catch (error) {
    assert.ok(error instanceof DocumentError, String(error));
    assert.ok(!error.message.includes('\n'), error.message);
    return `${error.position?.line ?? '-'}:${error.position?.column ?? '-'} ${error.message}`;
  }
  throw new Error('the document was accepted');
}

test('JSON and YAML have the same values', () => {
  const content = { _format_version: '3.0', services: [{ name: 'a', tags: ['x', '1'], retries: 5, enabled: false }] };
  assert.deepEqual(parseDocument(JSON.stringify(content)).content, content);
  const yaml = '_format_version: "3.0"\nservices:\n- name: a\n  tags: [x, "1"]\n  retries: 5\n  enabled: no\n';
  assert.deepEqual(parseDocument(yaml).content, content);
  assert.deepEqual(parseDocument(`\ufeff${yaml}`).content, content, 'with a byte order mark');
});

test('what parsers of YAML 1.1 read otherwise', () => {
  const read = (value: string) => parseDocument(`a: ${value}`).content['a'];
  assert.deepEqual(['yes', 'On', 'TRUE', 'no', 'OFF', 'false'].map(read), [true, true, true, false, false, false]);
  assert.deepEqual(['y', 'n', '2024-01-01', '12:30:45', '"yes"'].map(read), [
    'y',
    'n',
    '2024-01-01',
    '12:30:45',
    'yes',
  ]);
  assert.deepEqual(['~', 'null', '', '1.5', '0x10', '0'].map(read), [null, null, null, 1.5, 16, 0]);
  assert.match(refusal('a: 0777'), /^1:4 0777 may be read as an octal number/);
});

test('the hash is the MD5 of the text, and canonical without one', () => {
  assert.equal(parseDocument('{"_format_version":"3.0"}').hash, '99dfc9682094be67032e234e30455f54');
  assert.equal(documentFrom({ a: 1, b: [{ c: 2, d: 3 }] }).hash, documentFrom({ b: [{ d: 3, c: 2 }], a: 1 }).hash);
  assert.notEqual(documentFrom({ a: 1 }).hash, documentFrom({ a: '1' }).hash);
});

test('a syntax error has a position', () => {
  assert.match(refusal('services:\n- name: a\n  host: [b\n'), /^4:1 /);
  assert.match(refusal('{"services": [\n  {"name": "a" "b"}\n]}'), /^2:/);
  assert.match(refusal('a: b\n\tc: d'), /^2:/);
});

test('what is not a document', () => {
  assert.match(refusal(''), /expected a declarative configuration/);
  assert.match(refusal('null'), /expected a declarative configuration/);
  for (const text of ['[]', '"services"', '5', 'services', '- a']) assert.match(refusal(text), /expected an object/);
  assert.throws(() => documentFrom([]), /expected an object/);
  assert.match(refusal('a: 1\n---\nb: 2\n'), /single document/);
});

test('a key twice is refused, where parsers differ', () => {
  assert.match(refusal('{"a": 1, "b": {"c": 1,\n "\\u0063": 2}}'), /^2:2 the key "c" occurs twice/);
  assert.match(refusal('a: 1\nb: 2\na: 3\n'), /^3:1 duplicated mapping key/);
  assert.deepEqual(parseDocument('{"a": {"b": 1}, "b": "a", "c": ["a", "a"]}').content, {
    a: { b: 1 },
    b: 'a',
    c: ['a', 'a'],
  });
});

test('__proto__ is refused', () => {
  assert.match(refusal('{"services": [{"__proto__": {"name": "a"}}]}'), /__proto__/);
  assert.match(refusal('services:\n- __proto__: {name: a}\n'), /__proto__/);
  assert.match(refusal('{"services": [{"\\u005f_proto__": 1}]}'), /__proto__/);
  assert.throws(() => documentFrom(JSON.parse('{"a": [{"__proto__": 1}]}')), /__proto__/);
});

test('keys are text', () => {
  for (const key of ['yes', 'null', '[a]', '{a: b}']) assert.match(refusal(`? ${key}\n: 1\n`), /key/);
  assert.deepEqual(parseDocument('a: {200: x}').content, { a: { '200': 'x' } });
});

test('tags are refused', () => {
  for (const tag of ['!!binary YQ==', '!js/function x', '!!timestamp 2024-01-01', '!local a']) {
    assert.match(refusal(`a: ${tag}`), /tag/, tag);
  }
});

test('anchors, aliases and merge keys', () => {
  const text = 'x: &x {a: 1, b: 2}\ny: *x\nz: {<<: *x, b: 3}\n';
  assert.deepEqual(parseDocument(text).content, { x: { a: 1, b: 2 }, y: { a: 1, b: 2 }, z: { a: 1, b: 3 } });
});

test('aliases must not multiply, nor contain themselves', () => {
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level++) {
    bomb.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`);
  }
  const begin = cpuTime();
  assert.match(refusal(bomb.join('\n')), /aliases expand to more than/);
  assert.match(refusal('a: &a [*a]'), /alias/);
  assert.match(refusal('a: &a {b: {c: *a}}'), /alias/);
  const merges = ['m0: &m0 {k: 1}'];
  for (let level = 1; level < 30; level++)
    merges.push(`m${level}: &m${level} {<<: [*m${level - 1}, *m${level - 1}], k${level}: 1}`);
  parseDocument(merges.join('\n'));
  assert.ok(cpuTime() - begin < 5000);
});

test('depth is limited', () => {
  const nested = (levels: number) => `{"a": ${'['.repeat(levels)}${']'.repeat(levels)}}`;
  parseDocument(nested(63));
  assert.match(refusal(nested(64)), /more than 64 levels/);
  assert.match(refusal(nested(1_000_000)), /more than 64 levels/);
  assert.match(refusal(`a: ${nested(200)}`), /more than 64 levels/);
  assert.match(refusal(`a:\n  ${'- '.repeat(1000)}b`), /more than 64 levels/);
  assert.throws(() => documentFrom(JSON.parse(nested(100))), /more than 64 levels/);
});

test('positions of values, or of what contains them', () => {
  const yaml = 'services:\n- name: a\n  routes:\n  - name: r\n    paths: [/a, /b]\n- &x\n  name: b\nroutes: [*x]\n';
  const json =
    '{\n "services": [\n  {"name": "a"},\n  {"x": "}]\\"", "name": "b",\n   "routes": [{"paths": ["/a"]}]}\n ]\n}';
  const at = (text: string, ...path: (string | number)[]) => {
    const position = parseDocument(text).positionOf(path);
    return `${position?.line}:${position?.column}`;
  };
  assert.equal(at(yaml, 'services', 0, 'routes', 0, 'paths', 1), '5:17');
  assert.equal(at(yaml, 'services', 0, 'host'), '2:3');
  assert.equal(at(yaml, 'services', 1, 'name'), '7:3');
  assert.equal(at(yaml, 'routes', 0, 'name'), '8:11');
  assert.equal(at(json, 'services', 1, 'routes', 0, 'paths', 0), '5:26');
  assert.equal(at(json, 'services', 1, 'name'), '4:17');
  assert.equal(at(json, 'nothing'), '1:1');
  assert.equal(documentFrom({ a: 1 }).positionOf(['a']), null);
});
