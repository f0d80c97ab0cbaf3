import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as formats from './formats.ts';
import { normalPath } from './normal-path.ts';

type Check = (text: string) => string | null;

const cases: readonly [check: Check, text: string, problem: string | null][] = [
  [formats.hostProblem, 'example.com', null],
  [formats.hostProblem, 'under_score', null],
  [formats.hostProblem, '127.0.0.1', null],
  [formats.hostProblem, '::1', null],
  [formats.hostProblem, '[::1]', null],
  [formats.hostProblem, 'example.com:80', 'must not have a port'],
  [formats.hostProblem, 'example.com:80000', 'must not have a port'],
  [formats.hostProblem, 'a b', 'invalid value: a b'],
  [formats.hostProblem, '1.2.3', 'invalid value: 1.2.3'],
  [formats.hostProblem, 'a..b', 'invalid value: a..b'],
  [formats.hostProblem, 'a-.b', 'invalid value: a-.b'],
  [formats.routeHostProblem, 'example.com:8080', null],
  [formats.routeHostProblem, '*.example.com', null],
  [formats.routeHostProblem, 'example.*', null],
  [formats.routeHostProblem, '*.example.com:80', null],
  [formats.routeHostProblem, '*.example.*', 'invalid wildcard: must have at most one wildcard'],
  [formats.routeHostProblem, 'foo*.com', 'invalid wildcard: must be placed at leftmost or rightmost label'],
  [formats.routeHostProblem, 'a b', 'invalid hostname: a b'],
  [formats.wildcardHostProblem, '*.example.com', null],
  [formats.wildcardHostProblem, 'example.*', null],
  [formats.wildcardHostProblem, 'a*b', 'wildcard must be leftmost or rightmost character'],
  [formats.wildcardHostProblem, '*.a.*', 'only one wildcard must be specified'],
  [formats.wildcardHostProblem, '1.2.3.4', 'must not be an IP'],
  [formats.wildcardHostProblem, 'a.b:80', 'must not have a port'],
  [formats.pathProblem, '/a/b~c', null],
  [formats.pathProblem, '/a%20b', null],
  [formats.pathProblem, '/a b', "invalid path: '/a b' (characters outside of the reserved list of RFC 3986 found)"],
  [formats.pathProblem, '/a%zz', "invalid url-encoded value: '%zz'"],
  [formats.pathProblem, '/a%2', "invalid url-encoded value: '%2'"],
  [formats.routePathProblem, '/a b(', null],
  [formats.routePathProblem, '~/a/\\d+$', null],
  [formats.routePathProblem, 'a', 'should start with: / (fixed path) or ~/ (regex path)'],
  [formats.routePathProblem, '~a', 'should start with: / (fixed path) or ~/ (regex path)'],
  [formats.routePathProblem, '/a//b', 'must not have empty segments'],
  [formats.routePathProblem, '/a/../b', "non-normalized path, consider use '/b' instead"],
  [formats.routePathProblem, '/%41', "non-normalized path, consider use '/A' instead"],
  [formats.urlProblem, 'http://a', null],
  [formats.urlProblem, '//a', 'missing scheme in url'],
  [formats.urlProblem, 'http:/a', 'missing host in url'],
  [formats.nameProblem, 'a.b-c_d~1', null],
  [formats.nameProblem, 'é', null],
  [
    formats.nameProblem,
    'x y',
    "invalid value 'x y': the only accepted ascii characters are alphanumerics or ., -, _, and ~",
  ],
  [formats.headerNameProblem, 'X-A_1', null],
  [formats.headerNameProblem, 'x:', "bad header name 'x:', allowed characters are A-Z, a-z, 0-9, '_', and '-'"],
  [formats.tagProblem, 'a b:c', null],
  [
    formats.tagProblem,
    'a,b',
    "invalid tag 'a,b': expected printable ascii (except `,` and `/`) or valid utf-8 sequences",
  ],
  [formats.ipOrCidrProblem, '10.0.0.0/8', null],
  [formats.ipOrCidrProblem, '::1/128', null],
  [formats.ipOrCidrProblem, '10.0.0.0/33', "invalid ip or cidr range: '10.0.0.0/33'"],
  [formats.ipOrCidrProblem, '010.0.0.1', "invalid ip or cidr range: '010.0.0.1'"],
  [formats.ipOrCidrProblem, 'a', "invalid ip or cidr range: 'a'"],
];

for (const [check, text, problem] of cases) {
  test(`${check.name} says ${JSON.stringify(problem)} of ${JSON.stringify(text)}`, () => {
    assert.equal(check(text), problem);
  });
}

test('a regular expression with look-around or a back-reference is rejected', () => {
  for (const expression of ['/(?=a)', '/(?<!a)b', '/(a)\\1', '/(']) {
    const problem = formats.routePathProblem(`~${expression}`);
    assert.ok(problem?.startsWith(`invalid regex: '${expression}' (PCRE returned: `), String(problem));
  }
});

const paths: readonly [path: string, normal: string][] = [
  ['/', '/'],
  ['/a/./b/../c', '/a/c'],
  ['/a/..', '/'],
  ['/a/b/..', '/a/'],
  ['/a//b', '/a/b'],
  ['/../a', '/a'],
  ['/%7euser', '/~user'],
  ['/a%2fb', '/a%2Fb'],
  ['/caf%C3%A9', '/café'],
  ['/%ff', '/%FF'],
  ['/a/', '/a/'],
];

for (const [path, normal] of paths) {
  test(`the normal form of ${path} is ${normal}`, () => {
    assert.equal(normalPath(path), normal);
  });
}

test('a URL is split into its parts without validation', () => {
  assert.deepEqual(formats.splitUrl('HTTPS://user@[::1]:8443/a?b#c'), {
    scheme: 'https',
    host: '::1',
    port: '8443',
    path: '/a',
  });
  assert.deepEqual(formats.splitUrl('nonsense'), { scheme: null, host: null, port: null, path: 'nonsense' });
  assert.deepEqual(formats.splitUrl('http://'), { scheme: 'http', host: null, port: null, path: null });
});
