import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceGenerated } from './generated-block.ts';

test('replaces the part between the markers, and leaves the rest unchanged', () => {
  const first = replaceGenerated('# Title\n\nText.\n', '| a |');
  assert.match(first, /^# Title\n\nText\.\n\n<!-- .* -->\n\n\| a \|\n\n<!-- .* -->\n$/);
  const edited = `${first}\nMore.\n`;
  const second = replaceGenerated(edited, '| b |');
  assert.equal(second, edited.replace('| a |', '| b |'));
  assert.equal(replaceGenerated(second, '| b |'), second);
});
