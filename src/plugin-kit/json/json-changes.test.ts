import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodySyntaxError } from './body-syntax-error.ts';
import { changeJsonBody, type JsonChange, JsonValueError } from './json-changes.ts';
import { jsonFieldProblem } from './json-field.ts';

function changed(body: string, ...changes: readonly JsonChange[]): string | null {
  const result = changeJsonBody(Buffer.from(body), changes);
  return result === null ? null : Buffer.from(result).toString();
}

function put(kind: 'replace' | 'add' | 'append', name: string, value: string): JsonChange {
  return { kind, name, value, type: 'string' };
}

test('members of the document', () => {
  assert.equal(changed('{"a":1,"b":2}', { kind: 'remove', name: 'a' }), '{"b":2}');
  assert.equal(changed('{"a":1,"b":2}', { kind: 'rename', name: 'a', to: 'b' }), '{"b":1}');
  assert.equal(changed('{"a":1}', put('replace', 'a', 'x'), put('replace', 'b', 'x')), '{"a":"x"}');
  assert.equal(changed('{"a":null}', put('add', 'a', 'x'), put('add', 'b', 'x')), '{"a":null,"b":"x"}');
  assert.equal(
    changed('{"a":"1","b":["1"],"n":7}', ...['a', 'b', 'c', 'n'].map((name) => put('append', name, 'x'))),
    '{"a":["1","x"],"b":["1","x"],"n":[7,"x"],"c":["x"]}',
  );
});

test('paths, and names that look like paths', () => {
  const document = '{"data":{"items":[{"id":1,"s":"x"},{"id":2}]}}';
  assert.equal(
    changed(document, { kind: 'remove', name: 'data.items[*].s' }),
    '{"data":{"items":[{"id":1},{"id":2}]}}',
  );
  assert.equal(
    changed(document, { kind: 'rename', name: 'data.items[*].id', to: 'key' }),
    '{"data":{"items":[{"s":"x","key":1},{"key":2}]}}',
  );
  assert.equal(changed('{}', put('add', 'a.b', 'x')), '{"a":{"b":"x"}}');
  assert.equal(changed('{"a.b":1}', put('add', 'a.b', 'x')), null);
  assert.equal(changed('{"a.b":1,"a":{"b":2}}', put('replace', 'a.b', 'x')), '{"a.b":"x","a":{"b":2}}');
  assert.equal(changed('{"a":{"b":2}}', put('add', "['a.b']", 'x')), '{"a":{"b":2},"a.b":"x"}');
  assert.equal(changed('{"a":{}}', put('append', 'a.l', 'x'), put('append', 'a.l', 'y')), '{"a":{"l":["x","y"]}}');
});

test('an array at the top is reached by paths only', () => {
  const byName = [put('add', 'a', 'x'), put('append', 'a', 'x'), { kind: 'remove', name: 'length' } as const];
  assert.equal(changed('[{"a":1}]', ...byName), null);
  assert.equal(changed('[{"a":1},{}]', put('replace', '[*].a', 'x')), '[{"a":"x"},{}]');
  for (const body of ['"text"', '12', 'null', 'true']) assert.equal(changed(body, ...byName), null);
});

test('values have the type that is asked for, numbers all of their digits', () => {
  const number = (value: string): JsonChange => ({ kind: 'add', name: 'n', value, type: 'number' });
  assert.equal(changed('{"big":12345678901234567890}', number('1.10')), '{"big":12345678901234567890,"n":1.1}');
  assert.equal(changed('{}', number('9007199254740993')), '{"n":9007199254740993}');
  assert.equal(changed('{}', { kind: 'add', name: 'b', value: 'false', type: 'boolean' }), '{"b":false}');
  assert.throws(() => changed('{}', number('0x10')), JsonValueError);
  assert.throws(() => changed('{}', { kind: 'add', name: 'b', value: 'yes', type: 'boolean' }), JsonValueError);
});

test('keys that objects inherit are members like others', () => {
  assert.equal(changed('{"__proto__":{"a":1},"x":1}', { kind: 'remove', name: '__proto__' }), '{"x":1}');
  assert.equal(changed('{"x":1}', put('add', '__proto__', 'p')), '{"x":1,"__proto__":"p"}');
  assert.equal(changed('{"x":1}', put('replace', 'constructor', 'p')), null);
});

test('an empty body is an empty object; what is no JSON says where', () => {
  assert.equal(changed('', put('add', 'a', 'x')), '{"a":"x"}');
  assert.equal(changed('', put('replace', 'a', 'x')), null);
  assert.throws(
    () => changed('{\n "a": x}', put('add', 'a', 'x')),
    (error) => error instanceof BodySyntaxError && error.where === 'line 2, column 7',
  );
});

test('names that are no paths are refused, but for those of forms', () => {
  for (const name of ['a[]', 'a[b][c]', 'a[b-c]']) assert.equal(jsonFieldProblem(name), null);
  for (const name of ['a[', 'a[].b', "a['b", '[x]']) assert.notEqual(jsonFieldProblem(name), null, name);
  assert.match(jsonFieldProblem('a..b') ?? '', /is not a path: character 2/);
  for (const name of ['a', 'first name', 'a[0].b', "['a.b']", '$id']) assert.equal(jsonFieldProblem(name), null);
});

test('a name that is there twice hides nothing', () => {
  const remove: JsonChange = { kind: 'remove', name: 'user.role' };
  assert.equal(changed('{"user":{"role":"admin"},"user":{"n":1}}', remove), '{"user":{"n":1}}');
  assert.equal(changed('{"a":[{"b":1,"b":2}]}', remove), '{"a":[{"b":2}]}');
  assert.equal(changed('{"__proto__":1,"__proto__":{"user":1}}', remove), '{"__proto__":{"user":1}}');
  for (const body of [
    '{"a:b\\\\":"c:\\"d:","e":[{},{"f":{"__proto__":{"g":1}}}]}',
    '[]',
    '1',
    '{"n":12345678901234567890}',
  ]) {
    assert.equal(changed(body, remove), null, body);
  }
});
