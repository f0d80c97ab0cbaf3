import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type Rig, residentMemory, startRig } from '../support/rig.ts';

/*
 * Case 28, XML, on both sides of `xml-json`: a clear status, bounded memory, others served, nothing fetched, nothing expanded, nothing
 * of the document in the answer.
 */

const secret = 'root:x:0:0';
const limit = 1_048_576;
const laughs = (levels: number): string => {
  let entities = '<!ENTITY l0 "lol">';
  for (let at = 1; at <= levels; at++) entities += `<!ENTITY l${at} "${`&l${at - 1};`.repeat(10)}">`;
  return `<!DOCTYPE r [${entities}]><r>&l${levels};</r>`;
};

function utf16(text: string): Uint8Array {
  return Buffer.from(`\ufeff${text}`, 'utf16le');
}

/** `canary`: a server that must receive no request. */
function attacks(
  canary: string,
): Readonly<Record<string, readonly [body: string | Uint8Array, status: number, type?: string, coding?: string]>> {
  return {
    'entities that grow exponentially': [laughs(12), 400],
    'entities that grow quadratically': [
      `<!DOCTYPE r [<!ENTITY a "${'a'.repeat(50_000)}">]><r>${'&a;'.repeat(50_000)}</r>`,
      400,
    ],
    'entities in UTF-16': [utf16(laughs(12)), 400],
    'an entity within itself': ['<!DOCTYPE r [<!ENTITY a "&b;"><!ENTITY b "&a;">]><r>&a;</r>', 400],
    'an entity that is a file': ['<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>', 400],
    'an entity of another server': [`<!DOCTYPE r [<!ENTITY a SYSTEM "${canary}/a">]><r>&a;</r>`, 400],
    'a parameter entity of another server': [`<!DOCTYPE r [<!ENTITY % a SYSTEM "${canary}/a"> %a;]><r/>`, 400],
    'a document type of another server': [`<!DOCTYPE r SYSTEM "${canary}/r.dtd"><r/>`, 400],
    'a public document type': [`<!DOCTYPE r PUBLIC "-//x//y" "${canary}/r.dtd"><r/>`, 400],
    'default attributes': ['<!DOCTYPE r [<!ATTLIST r admin CDATA "true">]><r/>', 400],
    'a document type behind a comment': ['<!-- c --><?p i?><!DOCTYPE r><r/>', 400],
    'an entity that is not declared': ['<r>&xxe;</r>', 400],
    'nesting 100,000 deep': ['<a>'.repeat(100_000), 413],
    'nesting 100,000 deep, with ends': [`${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`, 413],
    'nesting in namespaces': [`${'<a xmlns="u">'.repeat(70_000)}`, 413],
    '100,000 attributes': [`<r ${Array.from({ length: 100_000 }, (_, at) => `a${at}=""`).join(' ')}/>`, 413],
    '260,000 elements': [`<r>${'<a/>'.repeat(260_000)}</r>`, 413],
    'a name of 100 KB': [`<${'a'.repeat(100_000)}/>`, 413],
    'a prefix of 100 KB': [`<r xmlns:${'a'.repeat(100_000)}="u"/>`, 413],
    'a body of 2 MB': [`<r>${'a'.repeat(2 * limit)}</r>`, 413],
    'a body that grows to 100 MB': [gzipSync(Buffer.alloc(100_000_000, 'a')), 413, 'text/xml', 'gzip'],
    'UTF-7': ['+ADw-r/+AD4-', 415, 'text/xml; charset=utf-7'],
    'a mark that contradicts the charset': [utf16('<r/>'), 415, 'text/xml; charset=utf-8'],
    'bytes that are not UTF-8': [Buffer.from('<r>\xc0\xbc</r>', 'latin1'), 400],
    'a character that is not allowed': ['<r>&#0;</r>', 400],
    'an end that is missing': ['<r>', 400],
    'a comment that hides': ['<r><!-- -- ><a/><!-- --></r>', 400],
    'a CDATA section without end': ['<r><![CDATA[</r>', 400],
  };
}

describe('hostile XML', { concurrency: 4 }, () => {
  let rig: Rig;
  let backend: TestBackend;
  let canary: Server;
  let called = 0;
  const answers = new Map<
    string,
    readonly [body: string | Uint8Array, status: number, type?: string, coding?: string]
  >();

  before(async () => {
    canary = createServer((_, response) => {
      called++;
      response.end(secret);
    });
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
    for (const [what, attack] of Object.entries(attacks(`http://127.0.0.1:${(canary.address() as AddressInfo).port}`)))
      answers.set(what, attack);
    backend = await startBackend({
      handler: (request, response) => {
        const attack = answers.get(decodeURIComponent(request.url?.slice('/answer/'.length) ?? ''));
        if (attack === undefined) {
          response.end('{}');
          return;
        }
        const [body, , type = 'text/xml', coding] = attack;
        response.writeHead(200, {
          'Content-Type': type,
          ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
        });
        response.end(body);
      },
    });
    rig = await startRig();
    await rig.write('PUT', '/services/xml', { url: backend.url, retries: 0 });
    await rig.write('PUT', '/services/xml/routes/answer', { paths: ['/answer'], strip_path: false });
    await rig.write('POST', '/routes/answer/plugins', { name: 'xml-json', config: { backend: 'xml', client: 'json' } });
    await rig.write('PUT', '/services/backend/routes/request', { paths: ['/request'], strip_path: false });
    await rig.write('POST', '/routes/request/plugins', { name: 'xml-json', config: { backend: 'json' } });
  });
  after(async () => {
    await rig.close();
    await backend.close();
    await new Promise((resolve) => canary.close(resolve));
    assert.equal(called, 0);
    assert.doesNotMatch(rig.backend.received, /\/request/);
  });

  for (const [what, [, expected]] of Object.entries(attacks(''))) {
    it(`is refused from a client: ${what}`, async () => {
      const [body, , type = 'text/xml', coding] = answers.get(what) as readonly [
        string | Uint8Array,
        number,
        string?,
        string?,
      ];
      const response = await fetch(`${rig.gateway.proxyUrl}/request`, {
        method: 'POST',
        headers: { 'Content-Type': type, ...(coding === undefined ? {} : { 'Content-Encoding': coding }) },
        body: Buffer.from(body),
      });
      assert.equal(response.status, expected);
      await saysNothing(response, expected);
    });

    it(`causes a 502 from a backend: ${what}`, async () => {
      const response = await fetch(`${rig.gateway.proxyUrl}/answer/${encodeURIComponent(what)}`);
      assert.equal(response.status, 502);
      await saysNothing(response, expected);
    });
  }

  it('keeps no memory, and others are served meanwhile', async () => {
    const memoryBefore = residentMemory();
    const hostile = Array.from({ length: 40 }, (_, at) =>
      fetch(`${rig.gateway.proxyUrl}/request`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/xml' },
        body: at % 2 === 0 ? laughs(12) : `<r>${'<a>'.repeat(90)}${'<a/>'.repeat(200_000)}</r>`,
      }).then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      }),
    );
    const plain = await fetch(`${rig.gateway.proxyUrl}/plain`);
    assert.equal(plain.status, 200);
    for (const status of await Promise.all(hostile)) assert.ok(status === 400 || status === 503, String(status));
    const grown = residentMemory() - memoryBefore;
    assert.ok(grown < 400 * 1024 * 1024, `grew by ${grown} bytes`);
  });

  it('has inclusions and style sheets treated as text', async () => {
    const include =
      '<r xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///etc/passwd" parse="text"/></r>';
    answers.set('inclusion', [`<?xml-stylesheet href="file:///etc/passwd"?>${include}`, 200]);
    const response = await fetch(`${rig.gateway.proxyUrl}/answer/inclusion`);
    assert.deepEqual(await response.json(), {
      r: {
        '@xmlns:xi': 'http://www.w3.org/2001/XInclude',
        'xi:include': { '@href': 'file:///etc/passwd', '@parse': 'text' },
      },
    });
  });
});

async function saysNothing(response: Response, expected: number): Promise<void> {
  const text = await response.text();
  assert.doesNotMatch(text, /root:|lol|aaaa|passwd/);
  assert.ok(text.length < 500);
  if (expected === 400) assert.match(text, /not valid XML|not UTF-8/);
}
