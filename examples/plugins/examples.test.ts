import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/** Models to copy: each is one handler that a person reads in a minute. */
const names = [
  ...['ab-by-cookie', 'feature-flag', 'geoip', 'html-errors', 'json-api'],
  ...['remote-auth', 'sign-requests', 'tenant-from-host', 'watermark', 'webhook-verifier'],
];
const maxLines = 59;

/** Declarations only: the fields of a configuration, an entity. */
const declarations: ReadonlySet<string> = new Set(['schema.ts', 'entities.ts']);

for (const name of names) {
  describe(name, () => {
    const folder = join(import.meta.dirname, name);
    const files = readdirSync(folder);

    it('has fewer than 60 lines, a test and a page', () => {
      const code = files.filter(
        (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !declarations.has(file),
      );
      const lines = code.flatMap((file) => readFileSync(join(folder, file), 'utf8').trimEnd().split('\n'));
      assert.ok(lines.length <= maxLines, `${lines.length} lines`);
      assert.ok(existsSync(join(folder, `${name}.test.ts`)));
      assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /\n## What it shows\n/);
    });

    it('imports what a third party can import', () => {
      const text = readFileSync(join(folder, 'index.ts'), 'utf8');
      const imported = [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)].map(([, specifier = '']) => specifier);
      const foreign = imported.filter((one) => !/^(?:sluicegate\/plugin-|node:|\.\/)/.test(one));
      assert.deepEqual(foreign, []);
    });
  });
}
