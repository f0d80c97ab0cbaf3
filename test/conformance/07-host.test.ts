import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { describeRefusals } from '../support/refusals.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 7: the host decides the route, so all parsers must read the same host. */
function message(lines: string, version = '1.1'): string {
  return `GET /host HTTP/${version}\r\n${lines}\r\n`;
}

const values: Readonly<Record<string, string>> = {
  'an empty Host': '',
  'a Host with a comma': 'example.com, other.example',
  'a Host with a comma and no blank': 'example.com,other.example',
  'a Host with a user part': 'user@example.com',
  'a Host with a user and password': 'user:secret@example.com',
  'a Host with a path': 'example.com/path',
  'a Host with a query': 'example.com?q',
  'a Host with a fragment': 'example.com#f',
  'a Host with a backslash': 'example.com\\path',
  'a Host with a blank inside': 'example.com other',
  'a Host with a tab inside': 'example.com\tother',
  'a Host with a control byte': 'example\x01.com',
  'a Host with a no-break space behind it': 'example.com\xa0',
  'a Host with a NUL': 'example.com\0',
  'a Host with a quote': 'example"com',
  'a Host with angle brackets': '<example.com>',
  'a Host with a port that is no number': 'example.com:http',
  'a Host with two ports': 'example.com:80:81',
  'a Host of only a port': ':80',
  'a Host with an open bracket only': '[::1',
  'a Host with a scheme': 'http://example.com',
};

describeRefusals('Host headers that name no single host', {
  ...Object.fromEntries(Object.entries(values).map(([what, value]) => [what, message(`Host: ${value}\r\n`)])),
  'a missing Host on HTTP/1.1': message('X-Other: a\r\n'),
  'no header at all on HTTP/1.1': message(''),
  'two different Hosts': message('Host: example.com\r\nHost: other.example\r\n'),
  'two equal Hosts': message('Host: example.com\r\nHost: example.com\r\n'),
  'two Hosts of different case': message('Host: example.com\r\nhOST: example.com\r\n'),
  'two Hosts on HTTP/1.0': message('Host: example.com\r\nHost: other.example\r\n', '1.0'),
  'a bad Host on HTTP/1.0': message('Host: user@example.com\r\n', '1.0'),
});

describe('Host headers', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  for (const host of ['example.com', 'example.com:8000', '127.0.0.1', '[::1]:8000', 'under_score.example', 'a.b.c.']) {
    it(`are accepted as ${host}`, async () => {
      const answer = await exchangeOne(rig.port, message(`Host: ${host}\r\n`));
      assert.equal(answer.status, 200);
    });
  }

  for (const [host, clean] of [
    ['example.com:', 'example.com'],
    ['[::1]:', '[::1]'],
    [' \texample.com\t ', 'example.com'],
  ] as const) {
    it(`are forwarded normalised: ${JSON.stringify(host)}`, async () => {
      await rig.write('PUT', '/services/backend/routes/all', { paths: ['/'], strip_path: false, preserve_host: true });
      const answer = await exchangeOne(rig.port, message(`Host:${host}\r\n`));
      assert.equal(answer.status, 200);
      assert.deepEqual(rig.backend.requests.at(-1)?.all('host'), [clean]);
      assert.equal(rig.backend.requests.at(-1)?.get('x-forwarded-host'), clean);
    });
  }

  it('are accepted with an empty port, whether the target has a port or not', async () => {
    for (const target of ['http://example.com:/', 'http://example.com/']) {
      for (const host of ['example.com', 'example.com:']) {
        const answer = await exchangeOne(rig.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        assert.equal(answer.status, 200, `${target} ${host}`);
      }
    }
  });

  it('are optional on HTTP/1.0', async () => {
    const answer = await exchangeOne(rig.port, message('', '1.0'));
    assert.equal(answer.status, 200);
  });
});
