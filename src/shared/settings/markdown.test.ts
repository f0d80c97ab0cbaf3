import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsMarkdown } from './markdown.ts';
import { definitions, settingNames } from './schema.ts';

test('the reference has one row of four cells for each setting', () => {
  const rows = settingsMarkdown()
    .split('\n')
    .filter((line) => /^\| \*?`/.test(line));
  assert.equal(rows.length, settingNames.length);
  for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 6, row);
});

test('every setting is described, and every default is accepted by its own kind', () => {
  for (const name of settingNames) {
    const { description, kind, default: value } = definitions[name];
    assert.match(description, /\.$/, name);
    assert.doesNotThrow(() => kind.parse(name, value), name);
  }
});
