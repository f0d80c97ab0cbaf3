import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rsaCertificate, rsaKey } from '../../src/shared/entities/certificates.fixture.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Milliseconds: well above the time of such a request, far below its time without limits. */
const maxBlockLength = 700;

/** Measures the longest time that the thread blocked its timers, independent of the load of the machine. */
function measureBlocks(): { stop(): number } {
  const used = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = used();
  let longest = 0;
  const look = (): void => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 5);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data; boundary=b';

function many(count: number, write: (i: number) => string, separator = ','): string {
  return Array.from({ length: count }, (_, i) => write(i)).join(separator);
}

const members = many(600_000, (i) => `"k${i}":1`);
const certificate = `"cert":${JSON.stringify(rsaCertificate)},"key":${JSON.stringify(rsaKey)}`;

/** Case 44: one request that would block the control plane for seconds. */
const bodies: Readonly<Record<string, readonly [path: string, type: string, body: string]>> = {
  'unknown members': ['/services', json, `{${members}}`],
  'unknown members to validate': ['/schemas/services/validate', json, `{${members}}`],
  'members of a reference': ['/routes', json, `{"service":{${members}}}`],
  "members of a plugin's config": ['/plugins', json, `{"name":"cors","config":{${members}}}`],
  tags: ['/services', json, `{"host":"a","tags":[${many(600_000, (i) => `"t${i}"`)}]}`],
  'wrong tags': ['/services', json, `{"host":"a","tags":[${many(600_000, (i) => `"t,${i}"`)}]}`],
  'expressions as paths': ['/routes', json, `{"paths":[${many(400_000, (i) => `"~/p${i}(a|b)*"`)}]}`],
  'header names': ['/routes', json, `{"headers":{${many(400_000, (i) => `"h${i}":["a"]`)}}}`],
  'empty records': ['/routes', json, `{"protocols":["tcp"],"sources":[${many(2_000_000, () => '{}')}]}`],
  'nested lists': ['/services', json, '['.repeat(8_000_000)],
  'a path of escapes': ['/routes', json, `{"paths":["/${'%41./'.repeat(1_500_000)}"]}`],
  'a host of colons': ['/services', json, `{"host":"${':'.repeat(7_900_000)}"}`],
  'names of one certificate': ['/certificates', json, `{${certificate},"snis":[${many(9000, (i) => `"h${i}.a"`)}]}`],
  'certificates in one text': [
    '/certificates',
    json,
    `{"key":"x","cert":"${'-----BEGIN CERTIFICATE-----\\n'.repeat(250_000)}"}`,
  ],
  'a name that is referred to': ['/routes', json, `{"service":{"name":"${'a'.repeat(7_900_000)}"}}`],
  'form fields': ['/services', form, many(600_000, (i) => `k${i}=1`, '&')],
  'escapes of a form': ['/services', form, `a=${'%ff'.repeat(2_600_000)}`],
  'parts of a form': ['/services', multipart, `${many(140_000, (i) => part(`k${i}`), '')}--b--\r\n`],
  'a plain path that looks like an expression': ['/routes', json, `{"paths":["/${'(|'.repeat(32_000)}"]}`],
  'digits of a form that are no number': ['/services', form, `host=a&port=${'1'.repeat(7_900_000)}x`],
  'blanks in an OCSP response': ['/certificates', json, `{${certificate},"ocsp_response":"a${' '.repeat(65_000)}!"}`],
  'slashes of a media type': [
    '/plugins',
    json,
    `{"name":"request-validator","config":{"allowed_content_types":["${'/a'.repeat(32_000)}\\n"]}}`,
  ],
  'header lines of a part': ['/services', multipart, `--b\r\n${'X-A: b\r\n'.repeat(950_000)}\r\n1\r\n--b--\r\n`],
};

function part(name: string): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
}

describe('a large body for the Admin API', () => {
  let rig: Rig;
  let keys = 0;
  before(async () => {
    rig = await startRig({ settings: { workers: 1 } });
    await rig.write('POST', '/services/backend/plugins', { name: 'key-auth' });
  });
  after(() => rig.close());

  /** A request with a key that no worker has cached: the worker needs the control plane. */
  async function lookUp(): Promise<number> {
    const key = `unused-${keys++}`;
    return (await exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\napikey: ${key}\r\n\r\n`)).status;
  }

  for (const [what, [path, type, text]] of Object.entries(bodies)) {
    it(`does not delay lookups: ${what}`, async () => {
      const body = Buffer.from(text);
      const blocks = measureBlocks();
      const writes = [1, 2].map(() =>
        fetch(rig.gateway.adminUrl + path, { method: 'POST', headers: { 'content-type': type }, body }),
      );
      assert.equal(await lookUp(), 401);
      for (const answer of await Promise.all(writes)) {
        assert.ok(answer.status === 400 || answer.status === 201, `${answer.status}`);
        assert.ok((await answer.text()).length < 200_000);
      }
      assert.equal(await lookUp(), 401);
      const longest = blocks.stop();
      assert.ok(longest < maxBlockLength, `${longest} ms`);
    });
  }
});
