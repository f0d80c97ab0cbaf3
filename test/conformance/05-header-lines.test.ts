import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { describeRefusals } from '../support/refusals.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 5: lines that are not exactly `name: value` CRLF. */
function message(lines: string): string {
  return `GET /lines HTTP/1.1\r\nHost: example.com\r\n${lines}\r\n`;
}

const cases: Record<string, string> = {
  'a space before the colon': message('X-Name : value\r\n'),
  'a tab before the colon': message('X-Name\t: value\r\n'),
  'a space before the colon of Content-Length': message('Content-Length : 5\r\n'),
  'a space before the colon of Transfer-Encoding': message('Transfer-Encoding : chunked\r\n'),
  'a space before Content-Length': message(' Content-Length: 5\r\n'),
  'a space before the first header': 'GET / HTTP/1.1\r\n Host: example.com\r\nHost: example.com\r\n\r\n',
  'a tab before a name': message('\tX-Name: value\r\n'),
  'a line without a colon': message('X-Name\r\n'),
  'a line of one space': message(' \r\n'),
  'an empty name': message(': value\r\n'),
  'a space inside a name': message('X Name: value\r\n'),
  'a folded line': message('X-Name: one\r\n two\r\n'),
  'a line folded with a tab': message('X-Name: one\r\n\ttwo\r\n'),
  'a bare LF after a line': message('X-Name: value\n'),
  'bare LFs everywhere': 'GET / HTTP/1.1\nHost: example.com\n\n',
  'a bare LF as the empty line': 'GET / HTTP/1.1\r\nHost: example.com\r\n\nGET /smuggled HTTP/1.1\r\n\r\n',
  'a bare LF inside a value': message('X-Name: one\ntwo: three\r\n'),
  'a bare CR inside a value': message('X-Name: one\rtwo: three\r\n'),
  'a bare CR after a line': message('X-Name: value\rX-Two: b\r\n'),
  'CR CR LF': message('X-Name: value\r\r\n'),
  'a bare CR in a name': message('X-\rName: value\r\n'),
  'an LF before the request': `\n${message('')}`,
  'a bare CR before the request': `\r${message('')}`,
  'a bare LF after the request line': 'GET / HTTP/1.1\nHost: example.com\r\n\r\n',
};

for (let code = 0; code < 32; code++) {
  // A tab is allowed inside a value; Separate cases above cover CR and LF.
  if (code === 13 || code === 10) continue;
  const hex = `0x${code.toString(16).padStart(2, '0')}`;
  cases[`the byte ${hex} in a name`] = message(`X-${String.fromCharCode(code)}Name: value\r\n`);
  if (code !== 9) cases[`the byte ${hex} in a value`] = message(`X-Name: a${String.fromCharCode(code)}b\r\n`);
}
cases['the byte 0x7f in a name'] = message('X-\x7fName: value\r\n');
cases['the byte 0x7f in a value'] = message('X-Name: a\x7fb\r\n');
for (const separator of '()<>@,;\\"/[]?={}') {
  cases[`the separator ${separator} in a name`] = message(`X${separator}Name: value\r\n`);
}
cases['a byte above 0x7f in a name'] = message('X-N\xe4me: value\r\n');

describeRefusals('header lines that are not name, colon, value, CRLF', cases);

describe('header lines', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  it('are forwarded with tabs, obs-text, empty values and every token character', async () => {
    const token = "X-!#$%&'*+-.^_`|~09azAZ";
    const answer = await exchangeOne(
      rig.port,
      message(`X-Tab: a\tb\r\nX-High: caf\xe9\r\nX-Empty:\r\nX-Tight:v\r\nX-Wide:  v  \r\n${token}: t\r\n`),
    );
    assert.equal(answer.status, 200);
    const request = rig.backend.requests.at(-1);
    assert.equal(request?.get('x-tab'), 'a\tb');
    assert.equal(request?.get('x-high'), 'caf\xe9');
    assert.equal(request?.get('x-empty'), '');
    assert.equal(request?.get('x-tight'), 'v');
    assert.equal(request?.get('x-wide'), 'v');
    assert.equal(request?.get(token), 't');
  });

  it('may be repeated, and keep their order', async () => {
    await exchangeOne(rig.port, message('X-Many: 1\r\nX-Many: 2\r\nX-Many: 3\r\n'));
    assert.deepEqual(rig.backend.requests.at(-1)?.all('x-many').join(', '), '1, 2, 3');
  });

  it('may follow one empty line before the request (RFC 9112 2.2)', async () => {
    const answer = await exchangeOne(rig.port, `\r\n${message('')}`);
    assert.equal(answer.status, 200);
  });
});
