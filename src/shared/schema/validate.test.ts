import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, map, set } from './collections.ts';
import type { Field } from './field-meta.ts';
import { boolean, integer, number, string } from './fields.ts';
import { foreign, record } from './record.ts';
import { validateRecord } from './validate.ts';

const ID = '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10';

const faults: readonly [what: string, field: Field, value: unknown, fault: unknown][] = [
  ['a missing required field', string({ required: true }), undefined, 'required field missing'],
  ['null for a required field', integer({ required: true }), null, 'required field missing'],
  ['a number for a text', string(), 1, 'expected a string'],
  ['a text for an integer', integer(), '80', 'expected an integer'],
  ['a fraction for an integer', integer(), 1.5, 'expected an integer'],
  ['an integer beyond 2^53', integer(), 2 ** 60, 'expected an integer'],
  ['a text for a number', number(), '1', 'expected a number'],
  ['a text for a boolean', boolean(), 'true', 'expected a boolean'],
  ['a text for an array', array(string()), 'a', 'expected an array'],
  ['a text for a set', set(string()), 'a', 'expected a set'],
  ['a text for a map', map(string(), string()), 'a', 'expected a map'],
  ['a list for a map', map(string(), string()), ['a'], 'expected a map'],
  ['a text for a record', record({ a: string() }), 'a', 'expected a record'],
  ['a list for a record', record({ a: string() }), ['a'], 'expected a record'],
  ['an unknown name within a record', record({ a: string() }), { b: 1 }, { b: 'unknown field' }],
  ['an empty text', string(), '', 'length must be at least 1'],
  ['a NUL character', string(), 'a\0', 'expected valid utf-8 text without NUL characters'],
  ['half of a surrogate pair', string(), '\ud800', 'expected valid utf-8 text without NUL characters'],
  ['eq', string({ eq: 'a' }), 'b', 'value must be a'],
  ['eq false', boolean({ eq: false }), true, 'value must be false'],
  ['eq null', string({ eq: null }), 'b', 'value must be null'],
  ['ne', boolean({ ne: true }), true, 'value must not be true'],
  ['one_of', string({ one_of: ['a', 'b'] }), 'c', 'expected one of: a, b'],
  ['one_of with numbers', integer({ one_of: [301, 302] }), 1, 'expected one of: 301, 302'],
  ['not_one_of', string({ not_one_of: ['a', 'b'] }), 'a', 'must not be one of: a, b'],
  ['gt', number({ gt: 0 }), 0, 'value must be greater than 0'],
  ['between', integer({ between: [0, 65535] }), 65536, 'value should be between 0 and 65535'],
  ['uuid', string({ uuid: true }), 'abc', 'expected a valid UUID'],
  ['is_regex', string({ is_regex: true }), '(', 'not a valid regex: ('],
  ['timestamp', integer({ timestamp: true }), 0, 'expected a valid timestamp'],
  ['len_eq', array(string(), { len_eq: 2 }), ['a'], 'length must be 2'],
  ['len_min', array(string(), { len_min: 1 }), [], 'length must be at least 1'],
  ['len_max', string({ len_max: 2 }), 'abc', 'length must be at most 2'],
  ['starts_with', string({ starts_with: '/' }), 'a', 'should start with: /'],
  ['match', string({ match: /^[A-Z]+$/ }), 'get', 'invalid value: get'],
  ['contains', array(string(), { contains: 'a' }), ['b'], 'expected to contain: a'],
  ['err replaces the message', string({ one_of: ['a'], err: 'only a' }), 'b', 'only a'],
  [
    'the first of several faults in the fixed order',
    string({ starts_with: '/', match: /x/, len_max: 1 }),
    'ab',
    'length must be at most 1',
  ],
  [
    'one bad element',
    array(integer()),
    [1, 'a', 3, null],
    [null, 'expected an integer', null, 'required field missing'],
  ],
  ['a bad value of a map', map(string(), integer()), { a: 1, b: 'x' }, { b: 'expected an integer' }],
  ['a bad key of a map', map(string({ match: /^a/ }), integer()), { b: 1 }, { b: 'invalid value: b' }],
  ['a text as a reference', foreign('services'), 'abc', 'expected a record'],
  ['a reference without an id', foreign('services'), {}, { id: 'missing primary key' }],
  ['a reference with a bad id', foreign('services'), { id: 'x' }, { id: 'expected a valid UUID' }],
];

for (const [what, field, value, fault] of faults) {
  test(`${what} is reported as ${JSON.stringify(fault)}`, () => {
    const result = validateRecord(record({ field }), { field: value });
    assert.deepEqual(result, { ok: false, error: { fields: { field: fault } } });
  });
}

const accepted: readonly [what: string, field: Field, value: unknown, output: unknown][] = [
  ['a missing field that may be unset', string(), undefined, null],
  ['a missing field with a default', integer({ default: 5 }), undefined, 5],
  ['null where null is allowed although there is a default', integer({ default: 5 }), null, null],
  ['null for a required field with a default', integer({ default: 5, required: true }), null, 5],
  ['a set with repetitions', set(string()), ['b', 'a', 'b'], ['b', 'a']],
  ['an array with repetitions', array(string()), ['b', 'a', 'b'], ['b', 'a', 'b']],
  ['an empty object for an array', array(string()), {}, []],
  ['an empty list for a map', map(string(), string()), [], {}],
  ['a missing record', record({ a: integer({ default: 1 }), b: string() }), undefined, { a: 1, b: null }],
  ['a missing record that is optional', record({ a: integer({ default: 1 }) }, { required: false }), undefined, null],
  [
    'a record with a default of its own',
    record({ a: integer({ default: 1 }), b: string() }, { default: { b: 'x' } }),
    null,
    { a: 1, b: 'x' },
  ],
  ['an upper-case UUID', string({ uuid: true }), ID.toUpperCase(), ID],
  ['a reference with more than the id', foreign('services'), { id: ID, name: 'x' }, { id: ID }],
  ['a vault reference', integerLikeSecret(), '{vault://env/secret}', '{vault://env/secret}'],
  ['an empty text where it is allowed', string({ len_min: 0 }), '', ''],
];

function integerLikeSecret(): Field {
  return string({ match: /^[0-9]+$/, referenceable: true });
}

for (const [what, field, value, output] of accepted) {
  test(`${what} becomes ${JSON.stringify(output)}`, () => {
    const result = validateRecord(record({ field }), value === undefined ? {} : { field: value });
    assert.deepEqual(result, { ok: true, value: { field: output } });
  });
}

test('all faulty fields are reported at once', () => {
  const schema = record({ a: string({ required: true }), b: integer(), c: boolean() });
  assert.deepEqual(validateRecord(schema, { b: 'x', c: true, d: 1 }), {
    ok: false,
    error: { fields: { a: 'required field missing', b: 'expected an integer', d: 'unknown field' } },
  });
});

test('a default is not shared between records', () => {
  const schema = record({ list: array(string(), { default: ['a'], required: true }) });
  const [first, second] = [validateRecord(schema, {}), validateRecord(schema, {})];
  assert.ok(first.ok && second.ok);
  assert.notEqual(first.value.list, second.value.list);
});

test('a field named __proto__ is an unknown field like any other', () => {
  const result = validateRecord(record({ a: string() }), JSON.parse('{"__proto__":{"a":"x"}}'));
  assert.ok(!result.ok);
  assert.equal(JSON.stringify(result.error.fields), '{"__proto__":"unknown field"}');
});

test('the input is not changed', () => {
  const input = Object.freeze({ list: Object.freeze(['a', 'a']) });
  assert.ok(validateRecord(record({ list: set(string()), other: integer({ default: 1 }) }), input).ok);
});

const onA = { a: string(), b: string(), c: string() };
const checks: readonly [what: string, schema: ReturnType<typeof record>, input: unknown, fields: unknown][] = [
  [
    'at_least_one_of',
    record(onA, { checks: [{ at_least_one_of: ['a', 'b'] }] }),
    { c: 'x' },
    { '@entity': ["at least one of these fields must be non-empty: 'a', 'b'"] },
  ],
  [
    'only_one_of',
    record(onA, { checks: [{ only_one_of: ['a', 'b'] }] }),
    { a: 'x', b: 'y' },
    { '@entity': ["exactly one of these fields must be non-empty: 'a', 'b'"] },
  ],
  [
    'mutually_exclusive',
    record(onA, { checks: [{ mutually_exclusive: ['a', 'b'] }] }),
    { a: 'x', b: 'y' },
    { '@entity': ["only one or none of these fields must be set: 'a', 'b'"] },
  ],
  [
    'mutually_required',
    record(onA, { checks: [{ mutually_required: ['a', 'b'] }] }),
    { a: 'x' },
    { '@entity': ["all or none of these fields must be set: 'a', 'b'"] },
  ],
  [
    'distinct',
    record(onA, { checks: [{ distinct: ['a', 'b'] }] }),
    { a: 'x', b: 'x' },
    { '@entity': ["values of these fields must be distinct: 'a', 'b'"] },
  ],
  [
    'conditional',
    record(onA, {
      checks: [
        { conditional: { if_field: 'a', if_match: { eq: 'x' }, then_field: 'b', then_match: { required: true } } },
      ],
    }),
    { a: 'x' },
    { b: 'required field missing', '@entity': ["failed conditional validation given value of field 'a'"] },
  ],
  [
    'a custom check of one field',
    record(onA, { checks: [{ custom_entity_check: { field_sources: ['a'], fn: () => ({ b: 'not so' }) } }] }),
    { a: 'x' },
    { b: 'not so' },
  ],
  [
    'a custom check whose field is faulty already does not run:',
    record(onA, { checks: [{ custom_entity_check: { field_sources: ['a'], fn: () => 'never said' } }] }),
    { a: 1 },
    { a: 'expected a string' },
  ],
];

for (const [what, schema, input, fields] of checks) {
  test(`${what} reports ${JSON.stringify(fields)}`, () => {
    assert.deepEqual(validateRecord(schema, input), { ok: false, error: { fields } });
  });
}

test('a check runs although another field is faulty', () => {
  const schema = record(onA, { checks: [{ at_least_one_of: ['a', 'b'] }] });
  assert.deepEqual(validateRecord(schema, { c: 1 }), {
    ok: false,
    error: {
      fields: {
        c: 'expected a string',
        '@entity': ["at least one of these fields must be non-empty: 'a', 'b'"],
      },
    },
  });
});

test('a check of a record within a record reports on the inner one', () => {
  const schema = record({ inner: record(onA, { checks: [{ only_one_of: ['a', 'b'] }] }) });
  assert.deepEqual(validateRecord(schema, {}), {
    ok: false,
    error: { fields: { inner: { '@entity': ["exactly one of these fields must be non-empty: 'a', 'b'"] } } },
  });
});

test('only the first hundred violations are listed, and long values are truncated', () => {
  const schema = record({ list: array(string({ one_of: ['a'] })), name: string({ match: /^a$/ }) });
  const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1]));
  for (const input of [unknown, { list: Array<string>(5000).fill('b') }]) {
    const result = validateRecord(schema, input);
    assert.ok(!result.ok);
    const { '@entity': onRecord, list = [], ...fields } = result.error.fields;
    assert.deepEqual(onRecord, ['only the first 100 violations are listed']);
    assert.ok(Object.keys(fields).length + Object.keys(list).length <= 101);
  }
  const long = validateRecord(schema, { name: 'b'.repeat(60_000) });
  assert.ok(!long.ok);
  assert.match(String(long.error.fields['name']), /^invalid value: b{900,1000}\.\.\.$/);
});

test('a text is not matched against a format above 65535 characters, unless its field allows more', () => {
  const matched = { custom: (text: string) => (text.endsWith('!') ? null : 'no') };
  const schema = record({
    name: string(matched),
    document: string({ ...matched, len_max: 1_000_000 }),
    body: string(),
  });
  const text = `${'a'.repeat(65_535)}!`;
  const result = validateRecord(schema, { name: text, document: text, body: text });
  assert.ok(!result.ok);
  assert.deepEqual(result.error.fields, { name: 'length must be at most 65535' });
});

test('the condition of a check does not throw for a value of the wrong type', () => {
  for (const [if_match, field] of [
    [{ contains: 'a' }, set(string())],
    [{ starts_with: 'a' }, string()],
    [{ mutually_exclusive_subsets: [['a'], ['b']] }, set(string())],
  ] as const) {
    const check = { conditional_at_least_one_of: { if_field: 'f', if_match, then_at_least_one_of: ['g'] } };
    const result = validateRecord(record({ f: field, g: string({ required: true }) }, { checks: [check] }), {
      f: 5,
      g: 'x',
    });
    assert.ok(!result.ok && typeof result.error.fields['f'] === 'string', JSON.stringify(if_match));
  }
});
