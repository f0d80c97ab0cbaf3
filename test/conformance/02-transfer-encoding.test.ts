import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { describeRefusals } from '../support/refusals.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 2: the only accepted coding is one final `chunked`. */
function message(lines: string): string {
  return `POST /coding HTTP/1.1\r\nHost: example.com\r\n${lines}\r\n2\r\nhi\r\n0\r\n\r\n`;
}

const values: Readonly<Record<string, string>> = {
  'chunked, then identity': 'chunked, identity',
  'identity, then chunked': 'identity, chunked',
  'identity alone': 'identity',
  'gzip alone': 'gzip',
  'gzip before chunked': 'gzip, chunked',
  'chunked before gzip': 'chunked, gzip',
  'chunked twice in one line': 'chunked, chunked',
  'an unknown coding that ends like chunked': 'xchunked',
  'an unknown coding that begins like chunked': 'chunkedx',
  'a vertical tab after chunked': 'chunked\x0b',
  'a form feed after chunked': 'chunked\x0c',
  'a no-break space after chunked': 'chunked\xa0',
  'a NUL after chunked': 'chunked\0',
  'a trailing comma': 'chunked,',
  'a leading comma': ',chunked',
  'a parameter': 'chunked;q=1',
  'a quoted coding': '"chunked"',
  'an empty value': '',
  'a non-ASCII letter': 'chun\xe7ed',
};

describeRefusals(
  'Transfer-Encoding other than chunked',
  {
    ...Object.fromEntries(
      Object.entries(values).map(([what, value]) => [what, message(`Transfer-Encoding: ${value}\r\n`)]),
    ),
    'two equal lines': message('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'),
    'two different lines': message('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'),
    'two lines of different case': message('Transfer-Encoding: chunked\r\ntransfer-encoding: x\r\n'),
    'an empty line of the name before a good one': message('Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n'),
    'a folded value': message('Transfer-Encoding:\r\n chunked\r\n'),
  },
  [400, 501],
);

describe('Transfer-Encoding: chunked', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  for (const value of ['chunked', 'Chunked', 'CHUNKED', ' chunked', '\tchunked', 'chunked \t']) {
    it(`is accepted as ${JSON.stringify(value)} and framed again`, async () => {
      const answer = await exchangeOne(rig.port, message(`Transfer-Encoding: ${value}\r\n`));
      assert.equal(answer.status, 200);
      const request = rig.backend.requests.at(-1);
      assert.equal(request?.body, 'hi');
      assert.ok((request?.all('transfer-encoding').length ?? 0) + (request?.all('content-length').length ?? 0) === 1);
    });
  }
});
