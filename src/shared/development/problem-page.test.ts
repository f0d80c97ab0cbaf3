import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { CodeProblem } from './code-problem.ts';
import { problemPage } from './problem-page.ts';

const problem: CodeProblem = {
  plugin: 'my-policy',
  title: 'failed in access',
  message: `no user '<script>alert("1")</script>' & co`,
  place: 'handler.ts:12:9',
  excerpt: "const user = users['<b>'];\n             ^",
};

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

test('a browser gets HTML in which everything of the problem is escaped once', () => {
  const { headers, body } = problemPage(problem, browser);
  assert.equal(headers['Content-Type'], 'text/html; charset=utf-8');
  assert.ok(!body.includes('<script'));
  assert.ok(!body.includes('<b>'));
  assert.ok(!body.includes('&amp;lt;'));
  assert.match(body, /&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt;&#39; &amp; co/);
  assert.match(body, /users\[&#39;&lt;b&gt;&#39;\];\n {13}\^/);
  assert.match(body, /handler\.ts:12:9/);
});

test('the page may load nothing, and its style is the only one', () => {
  const { headers, body } = problemPage(problem, browser);
  const style = /<style>(.*)<\/style>/s.exec(body)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  assert.match(headers['Content-Security-Policy'] ?? '', /^default-src 'none';/);
  assert.ok(headers['Content-Security-Policy']?.includes(`style-src 'sha256-${hash}'`));
  assert.ok(!body.includes(' style='));
});

test('no answer may be stored or sniffed', () => {
  for (const accept of [null, browser, 'application/json']) {
    const { headers } = problemPage(problem, accept);
    assert.equal(headers['Cache-Control'], 'no-store');
    assert.equal(headers['X-Content-Type-Options'], 'nosniff');
  }
});

for (const [accept, type] of [
  ['application/json', 'application/json'],
  ['text/html;q=0.5, application/json', 'application/json'],
  ['application/json;q=0, text/html', 'text/html'],
  ['*/*', 'text/plain'],
  [null, 'text/plain'],
  ['text/plain', 'text/plain'],
  ['__proto__', 'text/plain'],
  ['constructor, toString', 'text/plain'],
] as const) {
  test(`a client that accepts ${accept} gets ${type}`, () => {
    assert.equal(problemPage(problem, accept).headers['Content-Type'], `${type}; charset=utf-8`);
  });
}

test('JSON and text have the message, the place and the source line', () => {
  const json: unknown = JSON.parse(problemPage(problem, 'application/json').body);
  assert.deepEqual(json, {
    message: `my-policy: failed in access: ${problem.message}`,
    plugin: 'my-policy',
    place: problem.place,
    excerpt: problem.excerpt,
  });
  const { body } = problemPage(problem, null);
  assert.equal(
    body,
    `my-policy: failed in access\n${problem.message}\n\nhandler.ts:12:9\n  const user = users['<b>'];\n               ^\n`,
  );
});

test('a problem without a place is shown without one', () => {
  const bare = { ...problem, place: null, excerpt: null };
  assert.equal(problemPage(bare, null).body, `my-policy: failed in access\n${problem.message}\n`);
  assert.ok(!problemPage(bare, browser).body.includes('<pre>'));
});
