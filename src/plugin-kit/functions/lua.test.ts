import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { counterparts, luaProblem } from './lua.ts';

test('docs/plugin-functions.md has a row for each call of Lua that is replaced', () => {
  const page = readFileSync(new URL('../../../docs/plugin-functions.md', import.meta.url), 'utf8');
  for (const [lua, javascript] of counterparts) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${lua}\` |`));
    assert.ok(row?.includes(javascript), `${lua}: ${javascript}`);
  }
});

test('Lua is recognised', () => {
  for (const text of [
    'kong.log.err("x")',
    'local a = 1',
    'if a then b() end',
    'return function() return 1 end',
    'function f(a) return a end',
    '-- nothing\nx()',
    'ngx.exit(403)',
    "require('cjson')  local x",
    'require "cjson"',
  ]) {
    assert.match(luaProblem(text) ?? '', /^this is Lua; write a JavaScript function/, text);
  }
});

test('JavaScript that is not a function is not taken for Lua', () => {
  for (const text of ['context.x()', 'if (a) { b() }', 'const end = 2; response.end()', 'i = 1\ni--', '{ a: 1 }']) {
    assert.equal(luaProblem(text), null, text);
  }
});

test('long texts are looked at in linear time', () => {
  for (const text of [
    'then '.repeat(13_000),
    'function ('.repeat(6500),
    'kong.a.'.repeat(9000),
    '-- \n'.repeat(16_000),
  ]) {
    const begin = process.cpuUsage();
    luaProblem(text);
    assert.ok(process.cpuUsage(begin).user < 1_000_000, text.slice(0, 10));
  }
});
