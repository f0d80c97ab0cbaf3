import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskedRequestLine, maskedTarget } from './masked-arguments.ts';

const own = new Set(['k-e-y']);

test('a target without secrets is unchanged', () => {
  for (const target of [
    '/',
    '/a?',
    '/a?b',
    '/a?b=c&d=apikey',
    '/apikey=1',
    '/a?=x',
    '/a?&&',
    '/a?apikey',
    '/a?page_token=2',
  ]) {
    assert.equal(maskedTarget(target, own), target);
  }
});

test('values of credentials are replaced, however their names are written', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['/a?apikey=s3cret', '/a?apikey=REDACTED'],
    ['/a?x=1&APIKEY=s3cret&y=2', '/a?x=1&APIKEY=REDACTED&y=2'],
    ['/a?%61pi%6bey=s3cret&&', '/a?%61pi%6bey=REDACTED&&'],
    ['/a?apikey=s3cret&apikey=s3cret=?', '/a?apikey=REDACTED&apikey=REDACTED'],
    ['/a?K-E-Y=s3cret&z=1', '/a?K-E-Y=REDACTED&z=1'],
    ['/a?to\xe2\x84\xaaen=s3cret', '/a?to\xe2\x84\xaaen=REDACTED'],
    ['/a?to%E2%84%AAen=s3cret', '/a?to%E2%84%AAen=REDACTED'],
    ['https://a.test/?access_token=s3cret', 'https://a.test/?access_token=REDACTED'],
  ];
  for (const [target, masked] of cases) assert.equal(maskedTarget(target, own), masked);
});

test('the line of a malformed request is masked too', () => {
  assert.equal(maskedRequestLine('GET /?apikey=s3cret HTTP/1.1', own), 'GET /?apikey=REDACTED HTTP/1.1');
  assert.equal(maskedRequestLine('GET /?a b&apikey=s3 cret HTTP/9', own), 'GET /?a b&apikey=REDACTED HTTP/9');
  for (const rest of ['/?apikey=REDACTED HTTP/1.1', '', ' HTTP/1.1', '?a=1@b HTTP/1.1', '#@ HTTP/1.1']) {
    assert.equal(maskedRequestLine(`GET http://ada:s3@cret@h.test${rest}`, own), `GET http://REDACTED@h.test${rest}`);
  }
  assert.equal(maskedRequestLine('GET /a@b//c:d@e?f HTTP/1.1', own), 'GET /a@b//c:d@e?f HTTP/1.1');
  assert.equal(maskedRequestLine('GET /?apikey=s3cret', own), 'GET /?apikey=REDACTED');
  assert.equal(maskedRequestLine('GET /?k-e-y=s3cret HTTP/1.1', own), 'GET /?k-e-y=REDACTED HTTP/1.1');
  assert.equal(maskedRequestLine('GET /a', own), 'GET /a');
});

test('masks of plugins apply to targets and to lines of malformed requests; what cannot be masked is not shown', () => {
  const masks = [{ query: (query: string) => query.replace('ada', '***') }];
  assert.equal(maskedTarget('/a?apikey=1&name=ada', own, masks), '/a?apikey=REDACTED&name=***');
  assert.equal(maskedRequestLine('GET /?name=ada HTTP/9', own, masks), 'GET /?name=*** HTTP/9');
  const failing = [
    {
      query: () => {
        throw new Error('broken');
      },
    },
  ];
  assert.equal(maskedTarget('/a?name=ada', own, failing), '/a?REDACTED');
});
