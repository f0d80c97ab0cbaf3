import assert from 'node:assert/strict';
import { test } from 'node:test';
import { misplacedParts } from './plugin-parts.ts';

// Not written as imports: the import check reads this file, too.
const load = (file: string): string => `() => ${'import'}('./${file}')`;
const index = `import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { zones } from './zones.ts';

export default definePlugin({
  schema: ${load('schema.ts')},
  zones,
  metrics: ${load('metrics.ts')},
});
`;
const files = ['schema.ts', 'zones.ts', 'metrics.ts'];

function problems(text: string, present: readonly string[]): readonly string[] {
  return misplacedParts(text, (file) => present.includes(file));
}

test('accepts zones of zones.ts and metrics of metrics.ts', () => {
  assert.deepEqual(problems(index, files), []);
});

test('refuses zones that are declared in index.ts', () => {
  const inline = index.replace('  zones,', "  zones: () => [{ name: 'counters', bytes: 4096 }],");
  assert.deepEqual(problems(inline, files), ["index.ts must import zones from './zones.ts'"]);
});

test('refuses metrics of another file', () => {
  assert.deepEqual(problems(index.replace('metrics.ts', 'families.ts'), files), [
    `index.ts must declare metrics as ${load('metrics.ts')}`,
  ]);
});

test('refuses a metrics.ts and a zones.ts that declare nothing', () => {
  const plain = index.replace('  zones,\n', '').replace(`  metrics: ${load('metrics.ts')},\n`, '');
  assert.deepEqual(problems(plain, files), [
    'metrics.ts is for metrics, which index.ts does not declare',
    'zones.ts is for zones, which index.ts does not declare',
  ]);
});
