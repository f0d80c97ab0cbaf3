import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvLine } from './csv.ts';

test('plain cells stay as they are, nothing is an empty cell', () => {
  assert.equal(csvLine(['a', 'b c', 1, 0.5, null, '', 'ü;|']), 'a,b c,1,0.5,,,ü;|\r\n');
});

test('cells with separators or line breaks are quoted', () => {
  assert.equal(
    csvLine(['a,b', 'say "hi"', 'two\r\nlines', 'one\ntwo', ' x ']),
    '"a,b","say ""hi""","two\r\nlines","one\ntwo"," x "\r\n',
  );
});

test('a text that a spreadsheet would treat as a formula is escaped; a number is unchanged', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '\t=1', '\r=1', '\n=1']) {
    const line = csvLine([text]);
    assert.ok(line.startsWith("'") || line.startsWith(`"'`), JSON.stringify(line));
  }
  assert.equal(csvLine(['=cmd|"/c calc"!A1,x']), `"'=cmd|""/c calc""!A1,x"\r\n`);
  assert.equal(csvLine([-1, 1e21]), '-1,1e+21\r\n');
  assert.equal(csvLine(["it's =1"]), "it's =1\r\n");
});

test('also after the cell separators of other countries', () => {
  assert.equal(csvLine(['ann;=cmd|x', 'a\t+1;@SUM(A1)', 'a;b;-']), "ann;'=cmd|x,a\t'+1;'@SUM(A1),a;b;'-\r\n");
  assert.equal(csvLine(['x; =1', 'a;"=1+1"']), `x;' =1,"a;'""=1+1"""\r\n`);
});
