import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { describeRefusals } from '../support/refusals.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 6: the request line is method, space, target, space, version. */
function message(line: string, host = 'example.com'): string {
  return `${line}\r\nHost: ${host}\r\n\r\n`;
}

const cases: Record<string, string> = {
  'two spaces before the target': message('GET  / HTTP/1.1'),
  'two spaces after the target': message('GET /  HTTP/1.1'),
  'a space before the method': message(' GET / HTTP/1.1'),
  'a space after the version': message('GET / HTTP/1.1 '),
  'a tab instead of the first space': message('GET\t/ HTTP/1.1'),
  'a tab instead of the second space': message('GET /\tHTTP/1.1'),
  'a missing version': message('GET /'),
  'a missing target': message('GET HTTP/1.1'),
  'an empty target': message('GET  HTTP/1.1'),
  'only a method': message('GET'),
  'a lower-case protocol': message('GET / http/1.1'),
  'another protocol': message('GET / HTTQ/1.1'),
  'a version without a minor number': message('GET / HTTP/1'),
  'a version with two minor digits': message('GET / HTTP/1.10'),
  'a version with a leading zero': message('GET / HTTP/01.1'),
  'a version without a dot': message('GET / HTTP/11'),
  'a version with a letter': message('GET / HTTP/1.x'),
  'a space inside the target': message('GET /a b HTTP/1.1'),
  'an injected second request line': message('GET /a HTTP/1.1 /b HTTP/1.1'),
  'a target without a leading slash': message('GET index.html HTTP/1.1'),
  'a target of only a query': message('GET ?a=b HTTP/1.1'),
  'a fragment in the target': message('GET /a#b HTTP/1.1'),
  'a byte above 0x7f in the method': message('G\xc9T / HTTP/1.1'),
  'an empty method': message('/ HTTP/1.1'),
  'a lower-case method': message('get / HTTP/1.1'),
  'a method in mixed case': message('Get / HTTP/1.1'),
  'a digit in the method': message('GET1 / HTTP/1.1'),
  'a comma in the method': message('GET,POST / HTTP/1.1'),
  'absolute-form with another host than Host': message('GET http://other.example/ HTTP/1.1'),
  'absolute-form with another port than Host': message('GET http://example.com:81/ HTTP/1.1'),
  'absolute-form with a user part': message('GET http://user@example.com/ HTTP/1.1'),
  'absolute-form without a host': message('GET http:///path HTTP/1.1'),
  'absolute-form of another scheme': message('GET ftp://example.com/ HTTP/1.1'),
  'authority-form without CONNECT': message('GET example.com:80 HTTP/1.1', 'example.com:80'),
  'an asterisk without OPTIONS': message('GET * HTTP/1.1'),
  'an asterisk with more behind it': message('OPTIONS *x HTTP/1.1'),
};
for (let code = 0; code <= 32; code++) {
  if (code === 10 || code === 13 || code === 32) continue;
  const hex = `0x${code.toString(16).padStart(2, '0')}`;
  cases[`the byte ${hex} in the method`] = message(`G${String.fromCharCode(code)}ET / HTTP/1.1`);
  cases[`the byte ${hex} in the target`] = message(`GET /a${String.fromCharCode(code)}b HTTP/1.1`);
}
cases['the byte 0x7f in the target'] = message('GET /a\x7fb HTTP/1.1');
cases['a bare CR in the target'] = message('GET /a\rb HTTP/1.1');
cases['a bare LF in the target'] = message('GET /a\nb HTTP/1.1');

describeRefusals('request lines that are not method, target, version', cases);

describeRefusals(
  'protocol versions other than 1.0 and 1.1',
  {
    'HTTP/1.2': message('GET / HTTP/1.2'),
    'HTTP/2.0': message('GET / HTTP/2.0'),
    'HTTP/0.9': message('GET / HTTP/0.9'),
    'HTTP/3.0': message('GET / HTTP/3.0'),
    'the HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  },
  [400, 505],
);

describe('request targets', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  it('are accepted in absolute-form when the authority is the Host', async () => {
    const answer = await exchangeOne(rig.port, message('GET http://example.com/absolute?q=1 HTTP/1.1'));
    assert.equal(answer.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.target, '/absolute?q=1');
  });

  it('are accepted in absolute-form without a path', async () => {
    const answer = await exchangeOne(rig.port, message('GET http://example.com HTTP/1.1'));
    assert.equal(answer.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.target, '/');
  });

  it('with an unknown method are routed like any other', async () => {
    const answer = await exchangeOne(rig.port, message('BREW /pot HTTP/1.1'));
    assert.equal(answer.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.method, 'BREW');
  });

  it('are accepted when longer than a kilobyte', async () => {
    const target = `/${'a'.repeat(4000)}?${'b'.repeat(2000)}`;
    const answer = await exchangeOne(rig.port, message(`GET ${target} HTTP/1.1`));
    assert.equal(answer.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.target, target);
  });
});
