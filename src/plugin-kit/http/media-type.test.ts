import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaType } from './media-type.ts';

test('distinguishes types and reads their parameters', () => {
  const json = mediaType('Application/Problem+JSON; charset="UTF-8"; v=2');
  assert.deepEqual([json?.type, json?.isJson, json?.isXml], ['application/problem+json', true, false]);
  assert.deepEqual([json?.charset, json?.parameter('V'), json?.parameter('none')], ['utf-8', '2', null]);
  assert.equal(mediaType('text/xml')?.isXml, true);
  assert.equal(mediaType('application/soap+xml')?.isXml, true);
  assert.equal(mediaType('application/x-www-form-urlencoded')?.isForm, true);
  assert.equal(mediaType('a/b; c="d\\"e;f"')?.parameter('c'), 'd"e;f');
  assert.deepEqual([mediaType('text/plain')?.charset, mediaType('text/plain')?.isJson], [null, false]);
});

test('what names no one type is none', () => {
  for (const text of [null, '', 'json', 'a/b, c/d', 'a/b c', '/json'])
    assert.equal(mediaType(text), null, String(text));
});
