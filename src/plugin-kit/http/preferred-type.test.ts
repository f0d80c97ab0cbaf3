import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeHtml, preferredType } from './index.ts';

test('the client prefers the type with the highest quality, and of equal ones the first', () => {
  const types = ['application/json', 'text/html'] as const;
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const cases = [
    [null, 'application/json'],
    ['*/*', 'application/json'],
    [browser, 'text/html'],
    ['TEXT/HTML ; q=0.5, application/*;q=0.4', 'text/html'],
    ['text/html;q=0.4, application/json;q=0.5', 'application/json'],
    ['text/html;level=1;q=0', null],
    ['*/*, application/json;q=0', 'text/html'],
    ['image/png', null],
    ['', null],
    ['__proto__, constructor', null],
    ['text/html;q=x', 'text/html'],
  ] as const;
  for (const [accept, type] of cases) assert.equal(preferredType(accept, types), type, String(accept));
});

test('text cannot leave its place in a page', () => {
  assert.equal(escapeHtml(`<a href="x" title='y'>&`), '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;');
  assert.equal(escapeHtml('plain'), 'plain');
});
