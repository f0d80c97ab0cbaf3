import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../../test/support/cpu-time.ts';
import { DocumentError } from '../contract.ts';
import { parseDocument } from './parse-document.ts';
import { piecesOf } from './yaml-pieces.ts';

const filler = (indent: string, from: number, count: number) =>
  Array.from(
    { length: count },
    (_, index) =>
      `${indent}- name: service-${from + index}\n${indent}  host: "h${index}"\n${indent}  tags:\n${indent}  - a\n${indent}  - b\n`,
  ).join('');

/** More text than is read as a whole, with what could be taken for the begin of an element or of a key. */
function long(indent: string, odd: string): string {
  return `---\n# a comment\n_format_version: "3.0"\n\nservices: # all of them\n${filler(indent, 0, 4000)}\n${indent}# between\n\n${odd}${filler(indent, 4000, 5000)}routes: []\nplugins:\n${filler('', 0, 5000)}`;
}

const odd = (indent: string) =>
  [
    `${indent}- name: |`,
    `${indent}    - not an element`,
    `${indent}    services:`,
    '',
    `${indent}    - neither`,
    `${indent}  host: 'two`,
    `${indent}    - lines'`,
    `${indent}  tags: [a,`,
    `${indent}    b, {c: d}]`,
    `${indent}-`,
    `${indent}  name: alone`,
    `${indent}- {name: flow, host: "x: y"}`,
    `${indent}- plain`,
    '',
  ].join('\n');

function values(text: string): unknown {
  return parseDocument(text).content;
}

test('a long text has the values of a short one', () => {
  for (const indent of ['', '  ', '    ']) {
    const text = long(indent, odd(indent));
    assert.ok((piecesOf(text)?.length ?? 0) > 5, 'it is read in pieces');
    const { services, plugins, routes } = values(text) as Record<string, unknown[]>;
    assert.deepEqual([services?.length, plugins?.length, routes?.length], [9004, 5000, 0]);
    assert.deepEqual(services?.slice(4000, 4005), [
      { name: '- not an element\nservices:\n\n- neither\n', host: 'two - lines', tags: ['a', 'b', { c: 'd' }] },
      { name: 'alone' },
      { name: 'flow', host: 'x: y' },
      'plain',
      { name: 'service-4000', host: 'h0', tags: ['a', 'b'] },
    ]);
    assert.deepEqual(plugins?.at(-1), { name: 'service-4999', host: 'h4999', tags: ['a', 'b'] });
  }
});

test('positions in a long text', () => {
  const text = long('  ', odd('  '));
  const lines = text.split('\n');
  const { positionOf } = parseDocument(text);
  const lineOf = (...path: (string | number)[]) => lines[(positionOf(path)?.line ?? 0) - 1];
  assert.equal(lineOf('services', 8999, 'name'), '  - name: service-8995');
  assert.equal(lineOf('services', 4001, 'name'), '    name: alone');
  assert.equal(lineOf('services', 0, 'nothing'), '  - name: service-0');
  assert.equal(lineOf('plugins', 4321, 'tags', 1), '  - b');
  assert.equal(lineOf('plugins', 4321), '- name: service-4321');
  assert.equal(lineOf('services'), 'services: # all of them');
  assert.equal(lineOf('routes', 5), 'routes: []');
});

test('an error in a long text has its position', () => {
  const text = long('', '- name: [a\n');
  assert.throws(
    () => values(text),
    (error) => {
      assert.ok(error instanceof DocumentError);
      const line = text.slice(0, text.indexOf('[a')).split('\n').length;
      assert.ok(Math.abs((error.position?.line ?? 0) - line) <= 1, `${error.position?.line}, ${line}`);
      return true;
    },
  );
});

test('anchors, merge keys and directives make it one piece', () => {
  const anchors = long('', '- &x {name: a}\n').replace('routes: []', 'routes: [*x]');
  assert.deepEqual((values(anchors) as { routes: unknown }).routes, [{ name: 'a' }]);
  assert.equal(piecesOf(long('', '- <<: {a: 1}\n')), null);
  assert.equal(piecesOf(`%YAML 1.2\n${long('', '')}`), null);
});

test('a key twice, and a second document, are refused', () => {
  assert.throws(() => values(`${long('', '')}services: []\n`), /duplicated mapping key/);
  assert.throws(() => values(`${long('', '')}---\na: b\n`), /single document/);
});

test('as fast and as small as it has to be', () => {
  const text = `_format_version: "3.0"\nservices:\n${filler('', 0, 100_000)}`;
  const begin = cpuTime();
  values(text);
  const took = cpuTime() - begin;
  assert.ok(took < 15_000, `${Math.round(took)} ms for ${Math.round(text.length / 1e6)} MB`);
});
