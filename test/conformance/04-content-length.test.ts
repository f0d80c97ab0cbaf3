import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { describeRefusals } from '../support/refusals.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Cases 4 and 46: a length is one number of plain digits that fits an exact integer; surrounding blanks are dropped (RFC 9112 5). */
function message(lines: string): string {
  return `POST /length HTTP/1.1\r\nHost: example.com\r\n${lines}\r\nhello`;
}

const values: Readonly<Record<string, string>> = {
  'an empty value': '',
  'a plus sign': '+5',
  'a minus sign': '-5',
  'a trailing vertical tab': '5\x0b',
  'a list of equal values': '5,5',
  'a list of different values': '5, 6',
  'a hexadecimal number': '0x5',
  'a hexadecimal digit': 'a',
  'a decimal point': '5.0',
  'an exponent': '5e0',
  'an underscore': '1_0',
  'a blank between digits': '1 0',
  'a quoted number': '"5"',
  'a trailing semicolon': '5;',
  '20 digits': '10000000000000000005',
  '40 digits with leading zeros': '0000000000000000000000000000000000000005',
  'digits of another script': '\u0665',
  'a superscript digit': '\xb2',
  'a trailing no-break space': '5\xa0',
  'more than an exact integer holds': '9007199254740993',
  'the word null': 'null',
  'a NUL': '5\0',
};

describeRefusals('Content-Length that is not one plain number', {
  ...Object.fromEntries(Object.entries(values).map(([what, value]) => [what, message(`Content-Length: ${value}\r\n`)])),
  'the same value twice': message('Content-Length: 5\r\nContent-Length: 5\r\n'),
  'the same value twice in different case': message('Content-Length: 5\r\ncontent-length: 5\r\n'),
  'different values': message('Content-Length: 5\r\nContent-Length: 6\r\n'),
  'different values with a line between': message('Content-Length: 0\r\nX-A: b\r\nContent-Length: 5\r\n'),
  'an empty line of the name after a good one': message('Content-Length: 5\r\nContent-Length:\r\n'),
  'a bad length on HTTP/1.0': 'POST / HTTP/1.0\r\nContent-Length: 5,5\r\n\r\nhello',
});

describe('Content-Length', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  for (const value of ['5', '05', '00000005', '0000000000000000005', '5 ', '5\t', '   5', ' \t5 \t ']) {
    it(`is accepted as ${JSON.stringify(value)} and forwarded normalised`, async () => {
      const answer = await exchangeOne(rig.port, message(`Content-Length:${value}\r\n`));
      assert.equal(answer.status, 200);
      const request = rig.backend.requests.at(-1);
      assert.ok(request?.raw.includes('\r\nContent-Length: 5\r\n'));
      assert.equal(request?.body, 'hello');
      assert.deepEqual(request?.all('content-length'), ['5']);
    });
  }
});
