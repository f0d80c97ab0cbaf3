import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testSettings } from '../../../test/support/settings.ts';
import { debugTokenOf } from './node-files.ts';

const prefix = mkdtempSync(join(tmpdir(), 'node-files-'));
const file = join(prefix, 'request_debug_token');
after(() => rmSync(prefix, { recursive: true, force: true }));

function token(settings: {
  readonly requestDebug?: boolean;
  readonly requestDebugToken?: string | null;
}): string | null {
  return debugTokenOf(testSettings({ prefix, settings }));
}

test('each start creates another debug token, which only its owner can read', () => {
  // A file that is readable by all must not be reused.
  writeFileSync(file, 'old', { mode: 0o644 });
  const first = token({});
  assert.equal(readFileSync(file, 'utf8').trim(), first);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.notEqual(token({}), first);
});

test('a configured token is not written to a file, and the file of an earlier start is removed', () => {
  token({});
  assert.equal(token({ requestDebugToken: 'configured-token-of-tests' }), 'configured-token-of-tests');
  assert.equal(existsSync(file), false);
  token({});
  assert.equal(token({ requestDebug: false, requestDebugToken: 'configured-token-of-tests' }), null);
  assert.equal(existsSync(file), false);
});
