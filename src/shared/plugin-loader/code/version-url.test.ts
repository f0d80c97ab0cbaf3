import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanError, splitVersion, versionedUrl, withoutVersions } from './version-url.ts';

const version = '0123456789abcdef';

test('a version is added to a URL, and found again', () => {
  for (const url of ['file:///a/b.ts', 'file:///a/b.ts?part=1']) {
    assert.deepEqual(splitVersion(versionedUrl(url, version)), { url, version });
  }
  assert.equal(splitVersion('file:///a/b.ts'), null);
  assert.equal(splitVersion('file:///a/b.ts?version=2'), null);
  assert.equal(splitVersion(undefined), null);
});

test('texts and errors lose the versions of URLs, and nothing else', () => {
  const text = `at file:///a/b.ts?version=${version}:1:2, /path?version=${version}, ?version=1`;
  assert.equal(withoutVersions(text), `at file:///a/b.ts:1:2, /path?version=${version}, ?version=1`);
  const error = new Error(`in file:///a.ts?version=${version}`);
  cleanError(error);
  assert.equal(error.message, 'in file:///a.ts');
  assert.doesNotMatch(error.stack ?? '', /version=/);
  assert.equal(cleanError('text'), 'text');
});
