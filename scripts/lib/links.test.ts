import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headingsOf, scanLinks } from './links.ts';

const text = `# The title, with \`code\`

See [one](a.md), [two](../b.md#Part "a title") and [the web](https://example.com/c.md), [below](#part-two_b).
\`[no](code.md)\`

\`\`\`sh
[no](fenced.md) # not a heading
\`\`\`

## Part two_b
`;

test('finds relative links outside of code, with line and heading', () => {
  assert.deepEqual(scanLinks(text), [
    { line: 3, path: 'a.md', heading: null },
    { line: 3, path: '../b.md', heading: 'Part' },
    { line: 3, path: '', heading: 'part-two_b' },
  ]);
});

test('derives the names of headings as GitHub does', () => {
  assert.deepEqual([...headingsOf(text)], ['the-title-with-code', 'part-two_b']);
});
