import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonMembers } from './json-members.ts';

const limits = { depth: 20, members: 10 };

function pairsOf(text: string): readonly (readonly [string, string])[] | null {
  const members = jsonMembers(Buffer.from(text), limits);
  const bytes = Buffer.from(text);
  const piece = (start: number, end: number): string => bytes.toString('utf8', start, end);
  return (
    members?.map(({ nameStart, nameEnd, valueStart, valueEnd }) => [
      piece(nameStart, nameEnd),
      piece(valueStart, valueEnd),
    ]) ?? null
  );
}

describe('the members of a JSON object', () => {
  it('are found by their offsets, duplicates included', () => {
    assert.deepEqual(pairsOf(' { "a" : 1 ,"é":{"b":[{}, "}"]},"a":"\\"x" , "c":[ ] } '), [
      ['"a"', '1'],
      ['"é"', '{"b":[{}, "}"]}'],
      ['"a"', '"\\"x"'],
      ['"c"', '[ ]'],
    ]);
  });
  it('are empty for other values', () => {
    for (const text of ['[]', '[{"a":1}]', '"a"', '1', 'null', ' [ ] ', '{}'])
      assert.deepEqual(pairsOf(text), [], text);
  });
  it('are limited, and so is the depth', () => {
    const many = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"${at}":[1,2]`).join(',')}}`;
    assert.equal(pairsOf(many(10))?.length, 10);
    assert.equal(pairsOf(many(11)), null);
    assert.deepEqual(pairsOf('['.repeat(20) + ']'.repeat(20)), []);
    assert.equal(pairsOf('['.repeat(21) + ']'.repeat(21)), null);
    assert.equal(pairsOf('['.repeat(1_000_000)), null);
  });
  it('are null for bytes that are not UTF-8', () => {
    assert.equal(jsonMembers(Buffer.from('{"a":"\xff"}', 'latin1'), limits), null);
  });
});

it('accepts what JSON.parse accepts, and finds the same names', () => {
  let seed = 20261122;
  const next = (limit: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % limit;
  };
  const words = [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '"',
    '\\',
    '\\u0041',
    '\\u00g1',
    '\\x',
    '\\n',
    '0',
    '1',
    '-',
    '.',
  ];
  words.push(
    'e',
    'E+',
    '01',
    '1.5e-3',
    'true',
    'false',
    'null',
    'nul',
    ' ',
    '\n',
    '\t',
    '\x0b',
    '\u00a0',
    '\ufeff',
    '\0',
    'é',
  );
  words.push('"b":1', '{"c":[]}', '[1,2]', '"\\uD800"', '"x\ty"', '{"a":', '"q":{');
  let valid = 0;
  for (let round = 0; round < 200_000; round++) {
    const text = Array.from({ length: 1 + next(9) }, () => words[next(words.length)]).join('');
    let value: unknown;
    let parsed = true;
    try {
      value = JSON.parse(text);
    } catch {
      parsed = false;
    }
    const found = pairsOf(text);
    assert.equal(found !== null, parsed, JSON.stringify(text));
    if (!parsed) continue;
    valid++;
    const names = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
    assert.deepEqual(new Set(found?.map(([name]) => JSON.parse(name) as string)), new Set(names), text);
  }
  assert.ok(valid > 1000, `${valid} of the texts were JSON`);
});
