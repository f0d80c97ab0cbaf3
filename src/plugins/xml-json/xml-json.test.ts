import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { definePlugin } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type TestBackend, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import xmlJson from './index.ts';

type Config = Readonly<Record<string, unknown>>;

function plugin(t: TestContext, config: Config) {
  const test = testPlugin(xmlJson, { config });
  t.after(() => test.dispose());
  return test;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

function answering(type: string, body: string | Uint8Array, more: TestBackend = {}): TestBackend {
  return { ...more, headers: { 'Content-Type': type, ...more.headers }, body: [body] };
}

function sending(type: string, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): TestRequest {
  return { method: 'POST', headers: { 'Content-Type': type, ...headers }, body };
}

describe('the configuration', () => {
  it('requires the format of the backend', async () => {
    const checked = await testPlugin(xmlJson).check({});
    assert.ok(!checked.ok);
    assert.match(checked.message, /backend: required field missing/);
  });

  it('has defaults for all other fields', async () => {
    const checked = await testPlugin(xmlJson).check({ backend: 'xml' });
    assert.ok(checked.ok);
    assert.equal(checked.config['client'], 'negotiate');
    assert.equal((checked.config['mapping'] as Config)['attribute_prefix'], '@');
    assert.equal((checked.config['soap'] as Config)['version'], null);
  });

  const refused: readonly (readonly [Config, RegExp])[] = [
    [{ mapping: { arrays: ['a//'] } }, /is not a path/],
    [{ mapping: { numbers: ['a/@b/c'] } }, /is not a path/],
    [{ mapping: { attribute_prefix: '_' } }, /attribute_prefix/],
    [{ mapping: { text_name: 'text' } }, /text_name/],
    [{ mapping: { text_name: '@text' } }, /must not begin with attribute_prefix/],
    [{ mapping: { text_name: '$', content_name: '$' } }, /must differ/],
    [{ mapping: { root: 'a b' } }, /not a name in XML/],
    [{ mapping: { namespaces: { xmlns: 'urn:a' } } }, /not a prefix/],
    [{ soap: { header: '<a>' } }, /not valid XML/],
    [{ soap: { header: '<!DOCTYPE a><a/>' } }, /not valid XML/],
    [{ soap: { action: 'a"b' } }, /action/],
    [{ soap: { action: 'urn:a' } }, /version = "required when other fields of soap are set"/],
    [{ soap: { header: '<a/>' } }, /version = "required/],
    [{ soap: { fault_statuses: { NotFound: 404 } } }, /version = "required/],
    [{ max_body_size: 0 }, /max_body_size/],
  ];
  for (const [config, message] of refused) {
    it(`refuses ${JSON.stringify(config)}`, async () => {
      const checked = await testPlugin(xmlJson).check({ backend: 'xml', ...config });
      assert.ok(!checked.ok);
      assert.match(checked.message, message);
    });
  }
});

describe('answers of an XML backend', () => {
  const xml = '<order id="7"><item>tea</item><item>milk</item><paid/></order>';
  const json = '{"order":{"@id":"7","item":["tea","milk"],"paid":null}}';

  it('are JSON for a client that accepts it', async (t) => {
    const { upstream, response } = await plugin(t, { backend: 'xml' }).request({
      headers: { Accept: 'application/json', Range: 'bytes=0-5', 'If-Range': '"a"' },
      backend: answering('application/xml; charset=utf-8', xml, {
        headers: { ETag: '"abc"', 'Content-MD5': 'x', Digest: 'y', 'Accept-Ranges': 'bytes', 'Last-Modified': 'z' },
      }),
    });
    assert.equal(upstream?.header('accept'), 'application/xml, text/xml;q=0.9');
    assert.equal(upstream?.header('range'), null);
    assert.equal(upstream?.header('if-range'), null);
    assert.equal(response.status, 200);
    assert.equal(response.body, json);
    assert.equal(response.header('content-type'), 'application/json');
    assert.equal(response.header('vary'), 'Accept');
    assert.equal(response.header('etag'), 'W/"abc"');
    assert.equal(response.header('last-modified'), 'z');
    for (const gone of ['content-md5', 'digest', 'accept-ranges']) assert.equal(response.header(gone), null, gone);
  });

  const choices: readonly (readonly [what: string, headers: Readonly<Record<string, string>>, 'json' | 'xml'])[] = [
    ['nothing said', {}, 'xml'],
    ['anything', { Accept: '*/*' }, 'xml'],
    ['an empty list', { Accept: '' }, 'xml'],
    ['what cannot be read, and JSON', { Accept: 'a, json, text/xml;q=2, application/json;q=0.1, -' }, 'json'],
    ['JSON better', { Accept: 'application/xml;q=0.5, application/json' }, 'json'],
    ['XML better', { Accept: 'application/xml, application/json;q=0.9' }, 'xml'],
    ['a browser', { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }, 'xml'],
    ['JSON or anything', { Accept: 'application/json, */*' }, 'json'],
    ['text/xml', { Accept: 'text/xml' }, 'xml'],
    ['JSON, XML not at all', { Accept: 'application/xml;q=0, text/xml;q=0, */*' }, 'json'],
    ['both equally', { Accept: 'application/json, application/xml' }, 'xml'],
  ];
  for (const [what, headers, format] of choices) {
    it(`are ${format} for a client that accepts: ${what}`, async (t) => {
      const outcome = await plugin(t, { backend: 'xml' }).request({ headers, backend: answering('text/xml', xml) });
      assert.equal(outcome.response.body, format === 'json' ? json : xml);
      assert.equal(outcome.response.header('content-type'), format === 'json' ? 'application/json' : 'text/xml');
      assert.equal(outcome.response.header('vary'), 'Accept');
      if (format === 'xml') assert.equal(outcome.upstream?.header('accept'), headers['Accept'] ?? null);
    });
  }

  it('have the format of the request when the client accepts both equally', async (t) => {
    const test = plugin(t, { backend: 'xml' });
    const { response } = await test.request({
      ...sending('application/json', '{"a":1}'),
      backend: answering('text/xml', xml),
    });
    assert.equal(response.body, json);
  });

  it('have the preferred format without Accept', async (t) => {
    const { response } = await plugin(t, { backend: 'xml', preferred: 'json' }).request({
      backend: answering('text/xml', xml),
    });
    assert.equal(response.body, json);
  });

  it('are always JSON without negotiation', async (t) => {
    const { response } = await plugin(t, { backend: 'xml', client: 'json' }).request({
      headers: { Accept: 'application/xml' },
      backend: answering('application/problem+xml', xml, { status: 404 }),
    });
    assert.equal(response.status, 404);
    assert.equal(response.body, json);
    assert.equal(response.header('vary'), null);
  });

  it('are forwarded when they have another type', async (t) => {
    const test = plugin(t, { backend: 'xml', client: 'json' });
    for (const type of ['image/svg+xml', 'application/xhtml+xml', 'text/html', 'application/json', 'text/xmlx']) {
      const { response } = await test.request({ backend: answering(type, xml) });
      assert.equal(response.body, xml, type);
      assert.equal(response.header('content-type'), type);
    }
  });

  it('keep a Vary that already covers it', async (t) => {
    const test = plugin(t, { backend: 'xml' });
    for (const vary of ['Accept-Encoding, ACCEPT', '*']) {
      const { response } = await test.request({ backend: answering('text/xml', xml, { headers: { Vary: vary } }) });
      assert.deepEqual(response.headers['vary'], [vary]);
    }
    const { response } = await test.request({
      backend: answering('text/xml', xml, { headers: { Vary: 'Accept-Encoding' } }),
    });
    assert.deepEqual(response.headers['vary'], ['Accept-Encoding', 'Accept']);
  });

  it('are decompressed first', async (t) => {
    const { response } = await plugin(t, { backend: 'xml', client: 'json' }).request({
      backend: answering('text/xml', gzipSync(xml), { headers: { 'Content-Encoding': 'gzip' } }),
    });
    assert.equal(response.body, json);
    assert.equal(response.header('content-encoding'), null);
  });

  it('cause a 502 in an unknown coding, or as a partial answer', async (t) => {
    const test = plugin(t, { backend: 'xml', client: 'json' });
    const coded = answering('text/xml', xml, { headers: { 'Content-Encoding': 'secret' } });
    assert.equal((await test.request({ backend: coded })).response.status, 502);
    const part = answering('text/xml', xml.slice(0, 6), { status: 206, headers: { 'Content-Range': 'bytes 0-5/99' } });
    assert.equal((await test.request({ backend: part })).response.status, 502);
  });

  it('cause a 502 with the place when malformed, without their content', async (t) => {
    const test = plugin(t, { backend: 'xml', client: 'json' });
    const { response } = await test.request({ backend: answering('text/xml', '<secret>\n<a></b></secret>') });
    assert.equal(response.status, 502);
    assert.match(response.body, /line 2, column/);
    assert.doesNotMatch(response.body, /secret/);
    await test.request({ backend: answering('text/xml', '<secret>\n<a></b></secret>') });
    // It is logged for the operator, throttled.
    assert.equal(test.logLines.length, 1);
    assert.match(JSON.stringify(test.logLines), /not valid XML.*line 2, column/);
    assert.doesNotMatch(JSON.stringify(test.logLines), /secret/);
  });

  it('have the same heads for HEAD and 304', async (t) => {
    const test = plugin(t, { backend: 'xml', client: 'json' });
    const head = await test.request({
      method: 'HEAD',
      backend: answering('text/xml', '', { headers: { ETag: '"a"' } }),
    });
    assert.equal(head.response.header('content-type'), 'application/json');
    assert.equal(head.response.header('etag'), 'W/"a"');
    const unchanged = await test.request({ backend: { status: 304, headers: { ETag: '"a"' } } });
    assert.equal(unchanged.response.status, 304);
    assert.equal(unchanged.response.header('etag'), 'W/"a"');
    assert.equal(unchanged.response.header('content-type'), null);
  });

  it('stay empty when empty', async (t) => {
    const { response } = await plugin(t, { backend: 'xml', client: 'json' }).request({
      backend: answering('text/xml', ''),
    });
    assert.equal(response.status, 200);
    assert.equal(response.body, '');
  });

  it('are converted in another thread when they are large', async (t) => {
    const test = plugin(t, { backend: 'xml', client: 'json' });
    const large = `<r>${'<a>text</a>'.repeat(10_000)}</r>`;
    const { response } = await test.request({ backend: answering('text/xml', large) });
    assert.equal(response.body, `{"r":{"a":[${'"text",'.repeat(9_999)}"text"]}}`);
    assert.equal(test.counts.get('xml-json.other_thread'), 1);
    const broken = await test.request({ backend: answering('text/xml', large.slice(0, -4)) });
    assert.equal(broken.response.status, 502);
    assert.match(broken.response.body, /unclosed tag \(line 1/);
  });

  it('of the gateway itself are not converted', async (t) => {
    const refuser = definePlugin({
      name: 'refuser',
      version: '1.0.0',
      priority: 1,
      protocols: ['http'],
      schema: { config: record({}) },
      setup: () => ({
        access: () => ({ status: 403, headers: [['Content-Type', 'text/xml']], body: xml, message: null }),
      }),
    });
    const test = testPlugin(xmlJson, { config: { backend: 'xml' }, otherPlugins: [{ plugin: refuser }] });
    t.after(() => test.dispose());
    const { response } = await test.request({ headers: { Accept: 'application/json' } });
    assert.equal(response.status, 403);
    assert.equal(response.body, xml);
    assert.equal(response.header('vary'), null);
  });
});

describe('requests to an XML backend', () => {
  it('are converted from JSON', async (t) => {
    const { upstream } = await plugin(t, { backend: 'xml' }).request(
      sending('application/vnd.shop+json; charset=UTF-8', '{"order":{"@id":7,"item":["tea","a<b"]}}', {
        'Content-Digest': 'sha-256=:x:',
      }),
    );
    assert.equal(upstream?.body, `${declaration}<order id="7"><item>tea</item><item>a&lt;b</item></order>`);
    assert.equal(upstream?.header('content-type'), 'application/xml; charset=utf-8');
    assert.equal(upstream?.header('content-digest'), null);
  });

  it('are forwarded when they are already XML', async (t) => {
    const { upstream } = await plugin(t, { backend: 'xml' }).request(sending('text/xml', '<a>'));
    assert.equal(upstream?.body, '<a>');
    assert.equal(upstream?.header('content-type'), 'text/xml');
  });

  const refused: readonly (readonly [what: string, request: TestRequest, status: number, message: RegExp])[] = [
    ['malformed JSON', sending('application/json', '{"a":\n1,}'), 400, /line 2, column 3/],
    ['a control character', sending('application/json', '{"a":{"b":"\\u0000"}}'), 400, /place 1/],
    ['a prefix without a namespace', sending('application/json', '{"p:a":1}'), 400, /prefix/],
    ['too deep', sending('application/json', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`), 413, /100 levels/],
    ['a form', sending('application/x-www-form-urlencoded', 'a=1'), 415, /Unsupported media type/],
    ['two types', { ...sending('a/b', '{}'), headers: { 'Content-Type': ['application/json', 'text/xml'] } }, 415, /./],
    ['another encoding', sending('application/json; charset=utf-16', '{}'), 415, /UTF-8/],
    ['bytes that are not UTF-8', sending('application/json', Buffer.from('{"a":"\xff"}', 'latin1')), 400, /UTF-8/],
    ['too large', sending('application/json', `{"a":"${'x'.repeat(3000)}"}`), 413, /./],
    ['not to be answered', { headers: { Accept: 'image/png' } }, 406, /application\/json, application\/xml/],
  ];
  for (const [what, request, status, message] of refused) {
    it(`are refused: ${what}`, async (t) => {
      const { upstream, response } = await plugin(t, { backend: 'xml', max_body_size: 2048 }).request(request);
      assert.equal(response.status, status);
      assert.match(response.body, message);
      assert.equal(upstream, null);
    });
  }

  it('are forwarded unchanged if configured', async (t) => {
    const test = plugin(t, { backend: 'xml', unfit: 'pass' });
    const form = await test.request(sending('application/x-www-form-urlencoded', 'a=1', { Accept: 'image/png' }));
    assert.equal(form.upstream?.header('accept'), 'image/png');
    assert.equal(form.upstream?.header('content-type'), 'application/x-www-form-urlencoded');
  });

  it('without a body are not converted', async (t) => {
    const { upstream } = await plugin(t, { backend: 'xml' }).request({
      headers: { 'Content-Type': 'application/json' },
    });
    assert.equal(upstream?.header('content-type'), 'application/json');
  });

  it('with names that XML does not allow are refused if configured', async (t) => {
    const request = sending('application/json', '{"a":{"first name":1}}');
    const escaped = await plugin(t, { backend: 'xml' }).request(request);
    assert.equal(escaped.upstream?.body, `${declaration}<a><first_x0020_name>1</first_x0020_name></a>`);
    const refusing = plugin(t, { backend: 'xml', mapping: { invalid_names: 'refuse' } });
    assert.equal((await refusing.request(request)).response.status, 400);
  });

  it('are not converted when only answers are', async (t) => {
    const test = plugin(t, { backend: 'xml', requests: false });
    const { upstream } = await test.request(sending('application/json', '{', { Accept: 'application/json' }));
    assert.equal(upstream?.header('content-type'), 'application/json');
    assert.equal(upstream?.header('accept'), 'application/xml, text/xml;q=0.9');
  });
});

describe('a JSON backend', () => {
  it('serves clients that speak XML', async (t) => {
    const test = plugin(t, { backend: 'json', mapping: { root: 'answer', namespaces: { '': 'urn:a' } } });
    const { upstream, response } = await test.request({
      ...sending('text/xml; charset=ISO-8859-1', Buffer.from('<a>\xe9</a>', 'latin1'), { Accept: 'text/xml' }),
      backend: answering('application/json', '{"big":12345678901234567890,"list":[1,2],"none":null}'),
    });
    assert.equal(upstream?.body, '{"a":"é"}');
    assert.equal(upstream?.header('content-type'), 'application/json');
    assert.equal(upstream?.header('accept'), 'application/json');
    assert.equal(response.header('content-type'), 'text/xml; charset=utf-8');
    assert.equal(
      response.body,
      `${declaration}<answer xmlns="urn:a"><big>12345678901234567890</big><list>1</list><list>2</list><none/></answer>`,
    );
  });

  it('serves an ordinary object and a list as XML without any mapping', async (t) => {
    const test = plugin(t, { backend: 'json' });
    for (const [json, xml] of [
      ['{"id":1,"name":"Ada"}', '<root><id>1</id><name>Ada</name></root>'],
      ['[{"id":1},{"id":2}]', '<root><item><id>1</id></item><item><id>2</id></item></root>'],
      ['{"user":{"id":1}}', '<user><id>1</id></user>'],
    ] as const) {
      const { response } = await test.request({
        headers: { Accept: 'application/xml' },
        backend: answering('application/json', json),
      });
      assert.equal(response.status, 200);
      assert.equal(response.body, `${declaration}${xml}`);
    }
  });

  it('causes a 502 with the place when it answers with malformed JSON', async (t) => {
    const { response } = await plugin(t, { backend: 'json', client: 'xml', mapping: { root: 'a' } }).request({
      backend: answering('application/json', '{"a":1'),
    });
    assert.equal(response.status, 502);
    assert.match(response.body, /line 1, column 7/);
  });

  it('receives nothing that a client must not send', async (t) => {
    const test = plugin(t, { backend: 'json' });
    for (const [type, body, status] of [
      ['text/xml', '<a><b></a>', 400],
      ['text/xml', '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>', 400],
      ['text/xml; charset=koi8-r', '<a/>', 415],
      ['text/xml; charset=utf-16', '<a/>', 415],
      ['text/xml', '<a>'.repeat(101), 413],
    ] as const) {
      const { upstream, response } = await test.request(sending(type, body));
      assert.equal(response.status, status, body);
      assert.equal(upstream, null);
      assert.doesNotMatch(response.body, /passwd/);
    }
  });

  it('receives names of the prototype as ordinary members', async (t) => {
    const { upstream } = await plugin(t, { backend: 'json' }).request(
      sending('text/xml', '<a><__proto__>1</__proto__><__proto__>2</__proto__><constructor toString="x"/></a>'),
    );
    assert.equal(upstream?.body, '{"a":{"__proto__":["1","2"],"constructor":{"@toString":"x"}}}');
  });
});
