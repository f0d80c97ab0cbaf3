import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChartValues, valuesTable } from './values-table.ts';

const values = `# Where it runs
kind: Deployment
image:
  # Its repository
  repository: gateway
  # Its tag,
  # on two lines
  tag: ''
# CPU and memory
resources:
  requests: { cpu: 500m }
config:
  # A text
  text: |
    # not a comment of values
    a: 1
`;

test('reads each value with its comment and its default', () => {
  assert.deepEqual(readChartValues(values), [
    { name: 'kind', description: 'Where it runs', default: 'Deployment' },
    { name: 'image.repository', description: 'Its repository', default: 'gateway' },
    { name: 'image.tag', description: 'Its tag, on two lines', default: '' },
    { name: 'resources', description: 'CPU and memory', default: { requests: { cpu: '500m' } } },
    { name: 'config.text', description: 'A text', default: '# not a comment of values\na: 1\n' },
  ]);
});

test('refuses a value without a comment', () => {
  assert.throws(() => readChartValues('image:\n  tag: x\n'), /image\.tag has no comment/);
});

test('shows defaults as JSON, and leaves out long texts', () => {
  const table = valuesTable(readChartValues(values)).split('\n');
  assert.equal(table[3], '| `image.repository` | `"gateway"` | Its repository |');
  assert.match(table.at(-1) ?? '', /see values\.yaml/);
});
