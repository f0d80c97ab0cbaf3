import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { errorPlace, placeText, sourceExcerpt } from './error-place.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate place '));
after(() => rmSync(folder, { recursive: true, force: true }));

const source = dirname(dirname(import.meta.dirname));

function withStack(...frames: readonly string[]): Error {
  const error = new Error('no such limit');
  error.stack = ['Error: no such limit', ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return error;
}

const stacks: readonly (readonly [what: string, frames: readonly string[], place: string | null])[] = [
  [
    'a URL with a version',
    ['access (file:///srv/my%20plugin/index.ts?version=6b1f:3:9)'],
    '/srv/my plugin/index.ts:3:9',
  ],
  ['a path', ['Object.access (/srv/my plugin (1)/index.js:3:9)'], '/srv/my plugin (1)/index.js:3:9'],
  ['an asynchronous frame', ['async access (file:///srv/p.ts:3:9)'], '/srv/p.ts:3:9'],
  ['a frame without a name', ['async file:///srv/p.ts:3:9'], '/srv/p.ts:3:9'],
  ['evaluated code', ['eval (eval at access (file:///srv/p.ts:3:9), <anonymous>:1:7)'], '/srv/p.ts:3:9'],
  [
    'a call into Node and the gateway',
    [
      'JSON.parse (<anonymous>)',
      'node:internal/process/task_queues:104:5',
      `compileRegex (file://${source}/plugin-kit/runtime/regex.ts:9:1)`,
      'setup (file:///srv/p.ts:3:9)',
      'other (file:///srv/q.ts:1:1)',
    ],
    '/srv/p.ts:3:9',
  ],
  [
    'a call into a package',
    ['verify (/srv/node_modules/jose/verify.js:1:1)', 'access (file:///srv/p.ts:3:9)'],
    '/srv/p.ts:3:9',
  ],
  [
    'a plugin that is a package',
    ['access (file:///srv/node_modules/quota/index.js:3:9)'],
    '/srv/node_modules/quota/index.js:3:9',
  ],
  [
    'a bundled plugin',
    [`access (file://${source}/plugins/cors/handler.ts:3:9)`],
    `${source}/plugins/cors/handler.ts:3:9`,
  ],
  ['the gateway alone', [`runAccess (file://${source}/data/plugin-runner/run-access.ts:3:9)`], null],
];

for (const [what, frames, place] of stacks) {
  test(`errorPlace() finds the frame of a plugin: ${what}`, () => {
    const found = errorPlace(withStack(...frames));
    assert.equal(found === null ? null : placeText(found), place);
  });
}

test('errorPlace() follows causes, and ends when they are cyclic', () => {
  const inner = withStack('access (file:///srv/p.ts:3:9)');
  const outer = Object.assign(withStack('node:internal/x:1:1'), { cause: inner });
  assert.deepEqual(errorPlace(outer), { file: '/srv/p.ts', line: 3, column: 9 });
  Object.assign(inner, { stack: 'Error', cause: outer });
  assert.equal(errorPlace(outer), null);
});

test('errorPlace() does not read frames in a message', () => {
  const error = new Error('unexpected token\n    at access (/etc/secret.ts:1:1)');
  const place = errorPlace(error);
  assert.ok(place === null || !place.file.startsWith('/etc'));
});

test('errorPlace() finds the frame of an error whose message was changed', () => {
  const error = withStack('access (file:///srv/p.ts:3:9)');
  error.message = `while it read the limits of all consumers: ${error.message}, as the store has them`;
  assert.deepEqual(errorPlace(error), { file: '/srv/p.ts', line: 3, column: 9 });
});

test('errorPlace() survives whatever was thrown', () => {
  const hostile = {
    get stack(): string {
      throw new Error('no stack');
    },
    get cause(): unknown {
      throw new Error('no cause');
    },
  };
  const huge = new Error('x'.repeat(10_000_000));
  for (const thrown of ['x', null, undefined, 7, Symbol('x'), hostile, { stack: 7 }, () => 'x', huge]) {
    const place = errorPlace(thrown);
    assert.ok(place === null || place.line > 0);
  }
});

test('errorPlace() finds where a loaded plugin throws', async () => {
  const file = join(folder, 'thrower.ts');
  writeFileSync(file, 'export function run(list: { size?: number[] }) {\n\treturn list.size!.length;\n}\n');
  const { run } = (await import(`${pathToFileURL(file).href}?version=1`)) as { run: (list: object) => number };
  let thrown: unknown = null;
  try {
    run({});
  } catch (error) {
    thrown = error;
  }
  const place = errorPlace(thrown);
  assert.deepEqual(place, { file, line: 2, column: 20 });
  assert.equal(sourceExcerpt({ file, line: 2, column: 20 }), `\treturn list.size!.length;\n\t${' '.repeat(18)}^`);
});

test('sourceExcerpt() shows the part of a long line around the column', () => {
  const file = join(folder, 'long.js');
  writeFileSync(file, `${'a'.repeat(5000)}b${'c'.repeat(5000)}\n`);
  const [line = '', mark = ''] = (sourceExcerpt({ file, line: 1, column: 5001 }) ?? '').split('\n');
  assert.equal(line.length, 160);
  assert.equal(line[mark.indexOf('^')], 'b');
});

test('sourceExcerpt() reads source files only', () => {
  const secret = join(folder, 'secret.txt');
  writeFileSync(secret, 'secret\n');
  for (const file of [secret, '/dev/zero', folder, join(folder, 'missing.ts')])
    assert.equal(sourceExcerpt({ file, line: 1, column: 1 }), null);
  assert.equal(sourceExcerpt({ file: import.meta.filename, line: 1_000_000, column: 1 }), null);
});
