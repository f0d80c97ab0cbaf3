import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findFiles, isTest, root } from './files.ts';

/** Too short to be meaningful. */
const shortest = 8;

test('docs/troubleshooting.md quotes only messages that the code contains', () => {
  const code = findFiles('src/**/*.ts')
    .filter((file) => !isTest(file))
    .map((file) => joined(readFileSync(join(root, file), 'utf8')))
    .join('\n');
  const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
  const pieces = quotedMessages(page).flatMap(piecesOf);
  assert.ok(pieces.length > 50, `${pieces.length} pieces`);
  assert.deepEqual(
    pieces.filter((piece) => !code.includes(piece)),
    [],
  );
});

/** The texts in backticks in the first column of the tables. */
function quotedMessages(page: string): readonly string[] {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
}

/** A message without its variable parts: `...`, `<name>`, and reasons, which follow a colon. */
function piecesOf(message: string): readonly string[] {
  return message
    .split(/\.\.\.|<[^>]*>|[:;] |'x'/)
    .map((piece) => piece.replace(/^[ '(]+|[ ')]+$/g, ''))
    .filter((piece) => piece.length >= shortest);
}

/** Joins texts that the code writes in several literals. */
function joined(code: string): string {
  return code.replace(/['"`]\s*\+\s*['"`]/g, '').replaceAll("\\'", "'");
}
