import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type BackendHandler, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { openHttp2 } from '../../../test/support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../../../test/support/http2-rig.ts';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { bodyFault } from '../../plugin-kit/xml/index.ts';
import type { ConvertOptions } from './convert.ts';
import { atOnce, Converter } from './converter.ts';

const order = '<order id="7"><item>tea</item><item>milk</item></order>';
const orderJson = { order: { '@id': '7', item: ['tea', 'milk'] } };

/** Answers with XML of its path, and keeps the last request. */
class XmlBackend {
  accept: string | undefined;
  type: string | undefined;
  body = '';

  readonly handler: BackendHandler = (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      this.accept = request.headers.accept;
      this.type = request.headers['content-type'];
      this.body = Buffer.concat(pieces).toString();
      this.#answer(request.url ?? '', response);
    });
  };

  #answer(url: string, response: Parameters<BackendHandler>[1]): void {
    response.setHeader('Content-Type', 'text/xml');
    response.setHeader('ETag', '"1"');
    if (url === '/zipped') {
      response.setHeader('Content-Encoding', 'gzip');
      response.end(gzipSync(order));
    } else if (url === '/unchanged') {
      response.removeHeader('Content-Type');
      response.statusCode = 304;
      response.end();
    } else if (url === '/broken') {
      // The error is far behind the first bytes.
      response.write(`<order>${'<item>tea</item>'.repeat(5_000)}`);
      setImmediate(() => response.end('</item>'));
    } else if (url === '/cut') {
      response.setHeader('Content-Length', '1000');
      response.write('<order>');
      setImmediate(() => response.destroy());
    } else if (url === '/large') response.end(`<order>${'<item>tea</item>'.repeat(50_000)}</order>`);
    else if (url === '/huge') response.end(`<order>${'x'.repeat(1_100_000)}</order>`);
    else if (url === '/picture') {
      response.setHeader('Content-Type', 'image/png');
      response.end('PNG');
    } else response.end(order);
  }
}

describe('through a gateway', () => {
  const state = new XmlBackend();
  let backend: TestBackend;
  let rig: Http2Rig;
  before(async () => {
    backend = await startBackend({ handler: state.handler });
    rig = await startHttp2Rig();
    await rig.write('PATCH', '/services/backend', { url: backend.url });
    await rig.write('POST', '/routes/all/plugins', { name: 'xml-json', config: { backend: 'xml', preferred: 'json' } });
    await rig.write('POST', '/plugins', {
      name: 'compression',
      config: { min_bytes: 1 },
    });
  });
  after(async () => {
    await rig.close();
    await backend.close();
  });
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}, more: RequestInit = {}) =>
    fetch(rig.gateway.proxyUrl + path, { ...more, headers: { 'Accept-Encoding': 'identity', ...headers } });

  it('serves a JSON client from an XML backend', async () => {
    const answer = await ask(
      '/',
      { 'Content-Type': 'application/json', Accept: 'application/json' },
      {
        method: 'POST',
        body: JSON.stringify(orderJson),
      },
    );
    assert.deepEqual(await answer.json(), orderJson);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal(answer.headers.get('etag'), 'W/"1"');
    assert.match(answer.headers.get('vary') ?? '', /Accept(?:,|$)/);
    assert.equal(state.body, `<?xml version="1.0" encoding="UTF-8"?>${order}`);
    assert.equal(state.type, 'application/xml; charset=utf-8');
    assert.equal(state.accept, 'application/xml, text/xml;q=0.9');
  });

  it('forwards the answer unchanged to an XML client', async () => {
    const answer = await ask('/', { Accept: 'text/xml' });
    assert.equal(await answer.text(), order);
    assert.equal(answer.headers.get('etag'), '"1"');
    assert.match(answer.headers.get('vary') ?? '', /Accept(?:,|$)/);
    assert.equal(state.accept, 'text/xml');
  });

  it('serves clients over HTTP/2', async () => {
    await using client = await openHttp2(rig.port);
    const answer = await client.request('/', {
      headers: { ':method': 'POST', accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(orderJson),
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(JSON.parse(answer.body.toString()), orderJson);
    assert.equal(state.type, 'application/xml; charset=utf-8');
  });

  it('decompresses answers and compresses them again', async () => {
    const plain = await ask('/zipped');
    assert.deepEqual(await plain.json(), orderJson);
    assert.equal(plain.headers.get('content-encoding'), null);
    const raw = await exchangeOne(rig.port, 'GET /zipped HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
    assert.equal(raw.get('content-encoding'), 'gzip');
    assert.deepEqual(JSON.parse(gunzipSync(Buffer.from(raw.body, 'latin1')).toString()), orderJson);
  });

  it('sends the headers of the JSON with HEAD and 304', async () => {
    const head = await exchangeOne(rig.port, 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n', 'HEAD');
    assert.equal(head.status, 200);
    assert.equal(head.get('content-type'), 'application/json');
    assert.equal(head.get('content-length'), undefined);
    assert.equal(head.get('etag'), 'W/"1"');
    const unchanged = await ask('/unchanged', { 'If-None-Match': 'W/"1"' });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.get('etag'), 'W/"1"');
  });

  it('sends nothing of an answer that cannot be converted', async () => {
    const broken = await ask('/broken');
    assert.equal(broken.status, 502);
    assert.match(((await broken.json()) as { message: string }).message, /line 1, column 80014\)$/);
    const cut = await exchangeOne(rig.port, 'GET /cut HTTP/1.1\r\nHost: a\r\n\r\n').catch(() => null);
    assert.ok(cut === null || cut.status === 502);
    assert.ok(cut === null || !cut.body.includes('order'));
    assert.equal((await ask('/huge')).status, 502);
  });

  it('converts large answers in another thread, and never images', async () => {
    const large = (await (await ask('/large')).json()) as { order: { item: string[] } };
    assert.equal(large.order.item.length, 50_000);
    const picture = await ask('/picture');
    assert.equal(await picture.text(), 'PNG');
    assert.equal(picture.headers.get('vary')?.includes('Accept,') ?? false, false);
  });

  it('refuses unconvertible requests before the backend', async () => {
    state.accept = 'nobody';
    assert.equal((await ask('/', { Accept: 'image/png' })).status, 406);
    const form = await ask('/', {}, { method: 'POST', body: new URLSearchParams({ a: '1' }) });
    assert.equal(form.status, 415);
    assert.match(form.headers.get('accept') ?? '', /application\/xml/);
    const malformed = await ask('/', { 'Content-Type': 'application/json' }, { method: 'POST', body: '{"a":\n}' });
    assert.equal(malformed.status, 400);
    assert.match(await malformed.text(), /line 2, column 1/);
    const large = await ask(
      '/',
      { 'Content-Type': 'application/json' },
      { method: 'POST', body: `"${'x'.repeat(1_100_000)}"` },
    );
    assert.equal(large.status, 413);
    assert.equal(state.accept, 'nobody');
  });

  it('converts a body of undeclared length', async () => {
    const body = JSON.stringify(orderJson);
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    assert.equal((await exchangeOne(rig.port, head + chunks, 'POST')).status, 200);
    assert.equal(state.body, `<?xml version="1.0" encoding="UTF-8"?>${order}`);
  });
});

describe('together with a cache', () => {
  it('serves both formats from one stored answer, and no part as the whole', async () => {
    let asked = 0;
    await using backend = await startBackend({
      handler: (_, response) => {
        asked++;
        response.writeHead(200, { 'Content-Type': 'text/xml', ETag: '"1"', 'Cache-Control': 'max-age=60' });
        response.end(order);
      },
    });
    await using rig = await startHttp2Rig();
    await rig.write('PATCH', '/services/backend', { url: backend.url });
    await rig.write('POST', '/plugins', { name: 'xml-json', config: { backend: 'xml' } });
    await rig.write('POST', '/plugins', {
      name: 'proxy-cache',
      config: { strategy: 'memory', content_type: ['text/xml'] },
    });
    const get = (headers: Readonly<Record<string, string>>) => fetch(`${rig.gateway.proxyUrl}/`, { headers });
    const first = await get({ Accept: 'application/json' });
    assert.equal(first.headers.get('x-cache-status'), 'Miss');
    assert.deepEqual(await first.json(), orderJson);
    const second = await get({ Accept: 'application/json' });
    assert.equal(second.headers.get('x-cache-status'), 'Hit');
    assert.deepEqual(await second.json(), orderJson);
    const xml = await get({ Accept: 'text/xml' });
    assert.equal(xml.headers.get('x-cache-status'), 'Hit');
    assert.equal(await xml.text(), order);
    const part = await get({ Accept: 'application/json', Range: 'bytes=0-3' });
    assert.equal(part.status, 200);
    assert.deepEqual(await part.json(), orderJson);
    const unchanged = await get({ Accept: 'application/json', 'If-None-Match': 'W/"1"' });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.get('etag'), 'W/"1"');
    assert.equal(asked, 1);
  });
});

describe('the event loop', () => {
  const filled = (size: number, start: string, unit: string, end: string) =>
    start + unit.repeat(Math.floor((size - start.length - end.length) / unit.length)) + end;
  const levels = 97;
  const xmlBodies = (size: number): Readonly<Record<string, string>> => ({
    elements: filled(size, '<r>', '<abcd/>', '</r>'),
    'deep elements': filled(size, `<r>${'<a>'.repeat(levels)}`, '<abcd/>', `${'</a>'.repeat(levels)}</r>`),
    attributes: filled(size, '<r>', `<a ${Array.from({ length: 200 }, (_, at) => `b${at}=""`).join(' ')}/>`, '</r>'),
    'mixed content': filled(size, '<r>', 'abcd<b/>', '</r>'),
    references: filled(size, '<r>', '&lt;', '</r>'),
    text: filled(size, '<r>', 'x', '</r>'),
    'escaped names': filled(size, '<r>', '<_x0020_/>', '</r>'),
  });
  const jsonBodies = (size: number): Readonly<Record<string, string>> => ({
    objects: filled(size, '{"r":{"a":[', '{"b":0},', '0]}}'),
    numbers: filled(size, '{"r":{"a":[', '1.5e-10,', '0]}}'),
    arrays: filled(size, '{"r":{"a":[', `${'['.repeat(80)}${']'.repeat(80)},`, '0]}}'),
    references: filled(size, '{"r":"', '&', '"}'),
    text: filled(size, '{"r":"', 'x', '"}'),
  });
  const options: ConvertOptions = {
    mapping: { infer: true, arrays: ['//a//b', '*'], limits: { maxNodes: 500_000 }, maxOutput: 32 * 1024 * 1024 },
    soap: null,
  };

  /**
   * The minimum of several measurements of this thread's CPU time for a conversion, in milliseconds: the first ones run code that is not optimised yet, which
   * counts; other processes do not.
   */
  async function ownTime(run: () => unknown): Promise<number> {
    const before = process.threadCpuUsage();
    try {
      await run();
    } catch (error) {
      // A refusal as too large is also accepted.
      assert.equal(bodyFault(error), 'limit', String(error));
    }
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  }

  const counted: string[] = [];
  const converter = new Converter(options, (name) => counted.push(name));

  // The largest ones take 20 to 50 ms on a quiet machine, more where other threads use the same core.
  for (const [what, size, most] of [
    ['at once', null, 50],
    ['in the other thread', 1_048_576, 50],
    ['in the other thread, as large as may be', 8 * 1_048_576, 150],
  ] as const) {
    it(`is not held up: ${what}`, async () => {
      counted.length = 0;
      const times: Record<string, number> = {};
      for (const [name, body] of Object.entries(xmlBodies(size ?? atOnce.xml))) {
        const xml = { bytes: Buffer.from(body), contentType: null, request: true };
        times[`XML, ${name}`] = await ownTime(() => converter.toJson(xml, '192.0.2.1'));
      }
      for (const [name, body] of Object.entries(jsonBodies(size ?? atOnce.json))) {
        times[`JSON, ${name}`] = await ownTime(() => converter.toXml(Buffer.from(body), null, '192.0.2.1'));
      }
      const slow = Object.entries(times).filter(([, time]) => time >= most);
      assert.deepEqual(slow, []);
      assert.equal(counted.length, size === null ? 0 : Object.keys(times).length);
    });
  }
});
