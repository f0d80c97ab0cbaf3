import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printTable } from './table-print.ts';

const onOneLine: readonly [value: unknown, text: string][] = [
  [{ id: 'x', service: null }, '{id="x",service=null}'],
  [
    { service: null, name: 'basic-auth', route: { id: 'r' }, consumer: null },
    '{consumer=null,name="basic-auth",route={id="r"},service=null}',
  ],
  [{ 'a-b': 1, end: true }, '{["a-b"]=1,["end"]=true}'],
  [{ list: ['a', 'b'] }, '{list={"a","b"}}'],
  [{ list: [null, 'b'] }, '{list={[2]="b"}}'],
  [{ text: 'say "hi" \\' }, '{text="say \\"hi\\" \\\\"}'],
  [{}, '{}'],
];

for (const [value, text] of onOneLine) {
  test(`${JSON.stringify(value)} is printed as ${text}`, () => {
    assert.equal(printTable(value), text);
  });
}

test('an indented table has one entry on each line', () => {
  assert.equal(
    printTable({ b: { c: 'x' }, a: [null, 'y'] }, '  '),
    '{\n  a = {\n    [2] = "y"\n  },\n  b = {\n    c = "x"\n  }\n}',
  );
});

test('a text with line breaks is put in long brackets that it does not contain', () => {
  assert.equal(printTable('a\nb'), '[[a\nb]]');
  assert.equal(printTable('a]]\nb'), '[=[a]]\nb]=]');
});
