import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bannedPhrases, subjectProblem } from './words.ts';

test('names the file, the line and what to write', () => {
  assert.deepEqual(bannedPhrases('a.md', 'Good.\nThe worker is told of it.'), [
    'a.md:2: "is told"; write: is notified, is reported, receives',
  ]);
});

test('accepts text without a banned phrase, and words that only contain one', () => {
  assert.deepEqual(bannedPhrases('a.md', 'Besides, the backend is unavailable. The worker retold it.'), []);
});

test('accepts a subject of 72 characters and refuses one of 73', () => {
  const subject = `fix(http1): ${'x'.repeat(60)}`;
  assert.equal(subjectProblem(subject), null);
  assert.match(subjectProblem(`${subject}x`) ?? '', /72 characters \(73\)/);
});

test('refuses a subject without a type', () => {
  assert.match(subjectProblem('Fixes the parser') ?? '', /type\(scope\)/);
});
