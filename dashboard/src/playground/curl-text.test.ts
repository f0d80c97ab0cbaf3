import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlText } from './curl-text.ts';
import { type Draft, emptyDraft, newHeader } from './request-draft.ts';

const listeners = [
  { host: '127.0.0.1', port: 8000, ssl: false },
  { host: '127.0.0.1', port: 8443, ssl: true },
];

/** The words that curl receives from a shell, and what it reads. */
function words(draft: Partial<Draft>): readonly string[] {
  const text = curlText({ ...emptyDraft, ...draft }, listeners) ?? '';
  const script = `curl() { printf '%s\\0' "$@"; if [ "$piped" = 1 ]; then cat; fi; }\npiped=${draft.isBase64 === true ? 1 : 0}\n${text}`;
  const found = execFileSync('/bin/sh', ['-c', script], { encoding: 'latin1' }).split('\0');
  return draft.isBase64 === true ? found : found.slice(0, -1);
}

test('a request as a command: hosts, methods, headers and bodies keep every character', () => {
  assert.deepEqual(words({ url: '/a?b=1&c=$d' }), ['--path-as-is', 'http://127.0.0.1:8000/a?b=1&c=$d']);
  const body = `{"it's": "$HOME \`x\`"}\n`;
  assert.deepEqual(
    words({ method: 'PUT', url: 'https://a.test/b', headers: [newHeader('X-A', "'; rm"), newHeader('X-B')], body }),
    [
      ...['--path-as-is', '--connect-to', '::127.0.0.1:8443', 'https://a.test/b', '-X', 'PUT'],
      ...['-H', 'Content-Type: application/json', '-H', "X-A: '; rm", '-H', 'X-B;', '--data-binary', body],
    ],
  );
  assert.deepEqual(words({ url: '/', headers: [newHeader('A', '-x')], body: '/wAB', isBase64: true, method: 'POST' }), [
    ...['--path-as-is', 'http://127.0.0.1:8000/', '-H', 'A: -x', '--data-binary', '@-'],
    '\xff\x00\x01'.split('\x00')[0],
    '\x01',
  ]);
  assert.deepEqual(words({ method: 'HEAD', url: '/' }).at(-1), '--head');
  assert.equal(curlText({ ...emptyDraft, url: 'nonsense' }, listeners), null);
});
