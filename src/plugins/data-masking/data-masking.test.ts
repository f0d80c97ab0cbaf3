import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { definePlugin, httpProtocols, type IdentityDetails } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type TestOutcome, type TestPluginOptions, type TestRequest, testPlugin } from '../../plugin-sdk/testing.ts';
import dataMasking from './index.ts';
import type { RuleInput } from './testing/rule-config.ts';

type Rules = readonly RuleInput[];
type Config = Readonly<Record<string, unknown>>;

function withNames(rules: Rules): readonly Config[] {
  return rules.map((rule, at) => ({ name: `rule-${at}`, ...rule }));
}

function send(
  rules: Rules,
  request: TestRequest,
  config: Config = {},
  options: TestPluginOptions = {},
): Promise<TestOutcome> {
  return testPlugin(dataMasking, { config: { rules: withNames(rules), ...config }, ...options }).request(request);
}

/** What a client sends as this type, as the backend gets it. */
async function sent(
  rules: Rules,
  type: string | null,
  body: string | Uint8Array,
  config: Config = {},
): Promise<string | number> {
  const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type };
  const { upstream, response } = await send(rules, { method: 'POST', headers, body }, config);
  return upstream === null ? response.status : (upstream.body ?? '');
}

/** What a backend answers with this type, as the client gets it. */
async function answered(
  rules: Rules,
  type: string | null,
  body: string | Uint8Array,
  config: Config = {},
): Promise<string | number> {
  const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type };
  const { response } = await send(rules, { backend: { headers, body: [body] } }, config);
  return response.status === 200 ? response.body : response.status;
}

const email = [{ kinds: ['email'] }];
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';

async function problem(rules: Rules, config: Config = {}): Promise<string> {
  const checked = await testPlugin(dataMasking).check({ rules: withNames(rules), ...config });
  return checked.ok ? '' : checked.message;
}

test('what could not work is refused when it is configured', async () => {
  assert.equal(await problem([{ json_paths: ['$.a'] }]), '');
  assert.match(await problem([]), /length must be at least 1/);
  assert.match(await problem([{}]), /rule 'rule-0': it names neither a place nor kinds nor patterns/);
  assert.match(await problem([{ json_paths: ['a'] }]), /rule 'rule-0': 'a' is not a JSONPath/);
  assert.match(await problem([{ json_paths: ['$[?match(@.a, @.b)]'] }]), /must be written out/);
  assert.match(await problem([{ xml_paths: ['/a/@b/c'] }]), /is not a path/);
  assert.match(await problem([{ patterns: ['(a+)+\\1'] }]), /rules/);
  assert.match(await problem([{ patterns: ['a*'] }]), /matches the empty text/);
  assert.match(await problem([{ kinds: ['passport'] }]), /expected one of/);
  assert.match(await problem([{ json_paths: ['$.a'], action: 'hash' }]), /a hash needs `hash_key`/);
  assert.match(await problem([{ json_paths: ['$.a'], in: ['body'] }]), /`in` is for rules with kinds or patterns/);
  assert.match(await problem([{ json_paths: ['$.a'], text: 'a\nb' }]), /text/);
  assert.match(
    await problem([
      { json_paths: ['$.a'], name: 'x' },
      { json_paths: ['$.a'], name: 'x' },
    ]),
    /two rules are called 'x'/,
  );
  assert.match(await problem([{ json_paths: ['$.a'] }], { hash_key: 'short' }), /hash_key/);
});

test('JSON is masked both ways, or the way that a rule says', async () => {
  const body = '{ "a": "ada", "b": 1 }';
  const masked = '{"a":"***","b":1}';
  const rule = { json_paths: ['$.a'] };
  assert.equal(await sent([rule], json, body), masked);
  assert.equal(await answered([rule], json, body), masked);
  assert.equal(await sent([{ ...rule, direction: 'request' }], json, body), masked);
  assert.equal(await answered([{ ...rule, direction: 'request' }], json, body), body);
  assert.equal(await sent([{ ...rule, direction: 'response' }], json, body), '');
  assert.equal(await answered([{ ...rule, direction: 'response' }], json, body), masked);
  assert.equal(await answered([{ ...rule, direction: 'log' }], json, body), body);
  for (const type of [
    'application/problem+json',
    'APPLICATION/JSON;charset=UTF-8',
    'text/json',
    'application/vnd.api+json; v=1',
  ]) {
    assert.equal(await answered([rule], type, body), masked, type);
  }
});

test('actions', async () => {
  const body = '{"a":"4111 1111 1111 1234","b":"ada@example.com","c":"abcde","d":"ä","e":42}';
  const all = { json_paths: ['$.*'] };
  assert.equal(await answered([{ ...all, text: 'X' }], json, body), '{"a":"X","b":"X","c":"X","d":"X","e":"X"}');
  assert.equal(await answered([{ ...all, text: '' }], json, body), '{"a":"","b":"","c":"","d":"","e":""}');
  assert.equal(
    await answered([{ ...all, action: 'keep_last' }], json, body),
    '{"a":"***1234","b":"***ecom","c":"***de","d":"***","e":"***2"}',
  );
  assert.equal(
    await answered([{ ...all, action: 'keep_first', keep: 1 }], json, body),
    '{"a":"4***","b":"a***","c":"a***","d":"***","e":"4***"}',
  );
  assert.equal(
    await answered([{ ...all, action: 'keep_domain' }], json, body),
    '{"a":"***","b":"***@example.com","c":"***","d":"***","e":"***"}',
  );
  const key = 'a secret of all nodes';
  const hash = createHmac('sha256', key).update('ada@example.com').digest('hex').slice(0, 24);
  const hashing = { kinds: ['email'], action: 'hash' as const, hash_length: 24 };
  assert.equal(await answered([hashing], json, '["<ada@example.com>"]', { hash_key: key }), `["<${hash}>"]`);
});

test('own expressions', async () => {
  const rule = { patterns: ['[A-Z]{2}-\\d{4}', 'geheim(nis)?'] };
  assert.equal(
    await answered([rule], json, '{"a":"x AB-1234 y","b":"Ein geheimnis"}'),
    '{"a":"x *** y","b":"Ein ***"}',
  );
  assert.equal(await answered([rule], 'text/plain', 'AB-1234,geheim'), '***,***');
});

test('forms: fields by name, kinds in values, malformed ones refused', async () => {
  const fields = [{ form_fields: ['card', 'a b'] }];
  assert.equal(
    await sent(fields, form, 'card=4111&x=1&card=&c%61rd=7&a+b=%20&y'),
    'card=***&x=1&card=&c%61rd=***&a+b=***&y',
  );
  assert.equal(await sent(email, form, 'to=ada%40example.com&x=a%20b&q=ada%40b'), 'to=***&x=a%20b&q=ada%40b');
  assert.equal(await sent(email, form, 'ada%40example.com=1'), 'ada%40example.com=1');
  assert.equal(await sent([{ kinds: ['email'], mask_names: true }], form, 'ada%40example.com=1&b%40c.de'), '***=1&***');
  assert.equal(await sent(email, form, 'a=%zz'), 400);
  assert.equal(await sent(email, `${form}; charset=utf-16`, 'a=b'), 415);
  assert.equal(await answered(fields, form, 'card=1'), 'card=***');
});

test('multipart forms: fields, files by their types, names of files', async () => {
  const type = 'multipart/form-data; boundary=XX';
  const part = (head: string, body: string) => `--XX\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  const rules = [{ form_fields: ['card'] }, { kinds: ['email'] }, { json_paths: ['$.a'] }];
  const body = `${part('name="card"', '4111')}${part('name="text"', 'to ada@example.com')}--XX--\r\n`;
  assert.equal(
    await sent(rules, type, body),
    `${part('name="card"', '***')}${part('name="text"', 'to ***')}--XX--\r\n`,
  );
  const jsonFile = (text: string, file: string) =>
    part(`name="f"; filename="${file}"\r\nContent-Type: application/json`, text);
  assert.equal(
    await sent(rules, type, `${jsonFile('{"a":1,"b":"x@y.de"}', 'ada@example.com.json')}--XX--`),
    `${jsonFile('{"a":"***","b":"***"}', '***')}--XX--\r\n`,
  );
  const field = (text: string) => part('name="card"\r\nContent-Type: application/json', text);
  assert.equal(
    await sent([{ form_fields: ['card'] }, { json_paths: ['$.a'] }], type, `${field('{"a":1}')}--XX--`),
    `${field('***')}--XX--\r\n`,
  );
  const image = part('name="f"; filename="x.png"\r\nContent-Type: image/png', '\x89PNG');
  assert.equal(await sent(rules, type, `${image}--XX--`), 415);
  assert.equal(await sent(rules, type, `${image}--XX--`, { pass_types: ['image/*'] }), `${image}--XX--\r\n`);
  assert.equal(await sent(rules, type, `${part('name="card"', '1')}`), 415);
  assert.equal(await sent(rules, 'multipart/form-data', body), 415);
  assert.equal(await sent(rules, type, part('name="card"\r\nContent-Transfer-Encoding: base64', 'NDExMQ==')), 415);
});

test('XML: elements and attributes by path, kinds anywhere', async () => {
  const xml = 'application/xml';
  const head = '<?xml version="1.0" encoding="UTF-8"?>';
  const body = '<o:order xmlns:o="urn:o" id="7"><o:to mail="ada@example.com">Ada</o:to><n><to>x</to></n></o:order>';
  const paths = [{ xml_paths: ['/order/to', '//n/to', '/order/@id'] }];
  assert.equal(
    await answered(paths, xml, body),
    `${head}${body.replace('"7"', '"***"').replace('Ada', '***').replace('>x<', '>***<')}`,
  );
  assert.equal(await answered(email, xml, body), `${head}${body.replace('ada@example.com', '***')}`);
  assert.equal(
    await answered([{ xml_paths: ['//to'] }], xml, '<a><to><b>x</b><b>y</b></to><to/></a>'),
    `${head}<a><to>***</to><to/></a>`,
  );
  assert.equal(
    await answered([{ xml_paths: ['//to'], kinds: ['email'] }], xml, '<a>x@y.de<to>x@y.de<b c="x@y.de"/></to></a>'),
    `${head}<a>x@y.de<to>***<b c="***"/></to></a>`,
  );
  // Cut by sections and comments, written by references.
  assert.equal(await answered(email, xml, '<a>ada<![CDATA[@exa]]>mple.<!-- x@y.de -->com</a>'), `${head}<a>***</a>`);
  assert.equal(
    await answered(email, xml, '<a b="ada&#64;example.com">ada&#x40;example.com</a><?pi ada@example.com?>'),
    `${head}<a b="***">***</a><?pi ***?>`,
  );
  assert.equal(await answered(paths, xml, '<a><b></a>'), 502);
  assert.equal(await sent(paths, xml, '<a><b></a>'), 400);
  assert.equal(await sent(paths, xml, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), 400);
  const latin1 = Buffer.from('<to>\u00fc</to>', 'latin1');
  const { response } = await send([{ xml_paths: ['/none'] }], {
    backend: { headers: { 'Content-Type': 'text/xml; charset=ISO-8859-1' }, body: [latin1] },
  });
  assert.equal(response.body, `${head}<to>ü</to>`);
  assert.equal(response.header('content-type'), 'text/xml; charset=utf-8');
});

test('texts: kinds in every charset that is read, documents by another name refused', async () => {
  assert.equal(await answered(email, 'text/csv', 'a;ada@example.com;é'), 'a;***;é');
  assert.equal(await answered(email, 'text/html; charset=utf-8', '<p>ada@example.com</p>'), '<p>***</p>');
  assert.equal(await answered(email, 'text/plain; charset=utf-16', 'ada@example.com'), 502);
  assert.equal(await answered(email, 'text/plain', Buffer.from('\ufeffada@example.com', 'utf16le')), 502);
  assert.equal(await answered(email, 'text/plain; charset=utf-8', Buffer.from('\xe9', 'latin1')), 502);
  assert.equal(await answered(email, 'text/plain', ' {"a":"ada"}'), 502);
  assert.equal(await sent(email, 'text/plain', '[1]'), 415);
  assert.equal(await sent(email, 'text/plain', '[not JSON'), '[not JSON');
  assert.equal(await sent(email, 'text/plain', `${'['.repeat(100_000)}`), 415);
  assert.equal(await sent(email, 'text/plain', '<?xml version="1.0"?><a/>'), 415);
  // Without kinds and patterns there is nothing to look for in a text.
  assert.equal(await answered([{ json_paths: ['$.a'] }], 'text/plain', 'x'), 502);
});

test('what cannot be read is refused: 400, 413 or 415 to clients, 502 for answers', async () => {
  const rules = [{ json_paths: ['$.a'] }];
  assert.equal(await sent(rules, json, '{"a":'), 400);
  assert.equal(await answered(rules, json, '{"a":'), 502);
  assert.equal(await answered(rules, json, ''), '');
  assert.equal(await sent(rules, json, Buffer.from('{"a":"\xff"}', 'latin1')), 400);
  assert.equal(await sent(rules, `${json}; charset=utf-16`, Buffer.from('{"a":1}', 'utf16le')), 415);
  for (const type of [null, 'image/png', 'nonsense', 'application/xml', 'application/octet-stream', form]) {
    assert.equal(await sent(rules, type, '{"a":"x"}'), 415, String(type));
    assert.equal(await answered(rules, type, '{"a":"x"}'), 502, String(type));
  }
  const { response } = await send(rules, {
    method: 'POST',
    headers: { 'Content-Type': json },
    body: '{"a":"secret",\n  x}',
  });
  assert.match(response.body, /line 2, column 3/);
  assert.doesNotMatch(response.body, /secret/);
  const twice = await send(
    rules,
    { backend: { headers: { 'Content-Type': [json, 'image/png'] }, body: '{"a":1}' } },
    { pass_types: ['image/png'] },
  );
  assert.equal(twice.response.status, 502);
});

test('types that are named pass unread', async () => {
  const rules = [{ json_paths: ['$.a'] }];
  const passing = { pass_types: ['image/*', 'text/plain'] };
  assert.equal(await answered(rules, 'image/png', '{"a":"x"}', passing), '{"a":"x"}');
  assert.equal(await answered(rules, 'text/plain;charset=x', 'x', passing), 'x');
  assert.equal(await answered(rules, 'text/html', 'x', passing), 502);
  assert.equal(await answered(rules, 'text/html', 'x', { pass_types: ['*/*'] }), 'x');
  // What rules can mask is masked all the same.
  assert.equal(await answered(rules, json, '{"a":"x"}', { pass_types: ['*/*'] }), '{"a":"***"}');
  assert.equal(await answered(rules, null, '{"a":"x"}', { pass_types: ['*/*'] }), 502);
});

test('content codings are taken off, those that are not known refused', async () => {
  const rules = [{ json_paths: ['$.a'] }];
  const body = Buffer.from('{"a":"x"}');
  for (const [coding, bytes] of [
    ['gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
    ['br, gzip', gzipSync(brotliCompressSync(body))],
  ] as const) {
    const { response } = await send(rules, {
      backend: { headers: { 'Content-Type': json, 'Content-Encoding': coding }, body: [bytes] },
    });
    assert.equal(response.body, '{"a":"***"}', coding);
    assert.equal(response.header('content-encoding'), null);
    const headers = { 'Content-Type': json, 'Content-Encoding': coding };
    const { upstream } = await send(rules, { method: 'POST', headers, body: bytes });
    assert.equal(upstream?.body, '{"a":"***"}', coding);
    assert.equal(upstream?.header('content-encoding'), null);
  }
  const unknown = await send(rules, {
    backend: { headers: { 'Content-Type': json, 'Content-Encoding': 'lzma' }, body: '{"a":"x"}' },
  });
  assert.equal(unknown.response.status, 502);
});

test('headers and arguments, by name and by kind', async () => {
  const rules = [
    { headers: ['X-Name', 'Set-Cookie'], query_arguments: ['name'] },
    { kinds: ['email'], in: ['headers', 'query'] },
  ];
  const { upstream, response } = await send(rules, {
    path: '/?name=ada&x=1&n%61me=%C3%A9&mail=ada%40example.com&plain=a%20b',
    headers: {
      'X-Name': ['ada', 'b'],
      From: 'ada@example.com',
      'X-Latin': 'J\xc3\xbcrgen <j\xc3\xbcrgen@example.com>',
    },
    backend: {
      headers: {
        'X-Name': 'é',
        'Set-Cookie': ['a=1', 'b=2'],
        Link: '<mailto:ada@example.com>',
        'Content-Type': 'image/png',
      },
      body: 'x',
    },
  });
  assert.equal(upstream?.query, 'name=***&x=1&n%61me=***&mail=***&plain=a%20b');
  assert.deepEqual(upstream?.headers['x-name'], ['***', '***']);
  assert.equal(upstream?.header('from'), '***');
  assert.equal(upstream?.header('x-latin'), 'J\xc3\xbcrgen <***>');
  assert.equal(response.header('x-name'), '***');
  assert.deepEqual(response.headers['set-cookie'], ['***', '***']);
  assert.equal(response.header('link'), '<mailto:***>');
  assert.equal(response.body, 'x');
});

test('logs are masked by all rules, refused requests too', async () => {
  const rules: Rules = [
    { headers: ['X-Name'], query_arguments: ['name'], direction: 'log' },
    { kinds: ['email'], except_groups: ['staff'] },
  ];
  for (const routed of [true, false]) {
    const { record: logged } = await send(rules, {
      routed,
      path: '/?name=ada&mail=bob%40example.com',
      headers: { 'X-Name': 'ada', 'X-Mail': 'bob@example.com', Referer: 'http://x.test/?name=ada' },
      backend: { headers: { 'X-Name': 'ada', 'X-Other': 'to bob@example.com' } },
    });
    const text = JSON.stringify(logged);
    assert.doesNotMatch(text, /ada|bob/);
    assert.match(text, /name=\*\*\*&mail=\*\*\*/);
    assert.match(text, /"x-name":"\*\*\*"/);
  }
});

interface Client {
  readonly consumer?: string;
  readonly details?: Partial<IdentityDetails>;
}

async function asClient(
  client: Client,
  rules: Rules,
  config: Config = {},
  options: TestPluginOptions = {},
): Promise<TestOutcome> {
  const authentication = definePlugin({
    name: 'test-auth',
    version: '1.0.0',
    priority: 1500,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access(context) {
        const consumer =
          client.consumer === undefined ? null : { id: client.consumer, username: 'x', customId: null, tags: [] };
        context.authenticate(consumer, { id: null, identifier: 'x' }, client.details);
        return undefined;
      },
    }),
  });
  const entities = { consumers: [{ id: ada }], acls: [{ consumer: { id: ada }, group: 'staff' }] };
  const request = {
    backend: {
      headers: { 'Content-Type': json, ETag: '"1"', 'Cache-Control': 'public, max-age=60' },
      body: '{"a":1,"b":2}',
    },
  };
  return send(rules, request, config, { beside: [{ plugin: authentication }], entities, ...options });
}

const ada = '5b0ef6c3-0000-4000-8000-000000000001';
const bob = '5b0ef6c3-0000-4000-8000-000000000002';

test('members of groups are spared the rules that say so, and nobody else', async () => {
  const rules: Rules = [{ json_paths: ['$.a'], except_groups: ['staff'] }, { json_paths: ['$.b'] }];
  for (const slowEntities of [false, true]) {
    const bodyFor = async (client: Client, config: Config = {}) =>
      (await asClient(client, rules, config, { slowEntities })).response.body;
    assert.equal(await bodyFor({ consumer: ada }), '{"a":1,"b":"***"}');
    assert.equal(await bodyFor({ consumer: bob }), '{"a":"***","b":"***"}');
    assert.equal(await bodyFor({}), '{"a":"***","b":"***"}');
    assert.equal(await bodyFor({ details: { groups: ['staff'] } }), '{"a":1,"b":"***"}');
    assert.equal(await bodyFor({ consumer: bob, details: { groups: ['staff'] } }), '{"a":"***","b":"***"}');
    const always = { always_use_authenticated_groups: true };
    assert.equal(await bodyFor({ consumer: bob, details: { groups: ['staff'] } }, always), '{"a":1,"b":"***"}');
    assert.equal(await bodyFor({ consumer: ada, details: { groups: [] } }, always), '{"a":"***","b":"***"}');
  }
});

test('answers that differ by client are private, and their tags tell them apart', async () => {
  const rules: Rules = [{ json_paths: ['$.a'], except_groups: ['staff'] }, { json_paths: ['$.b'] }];
  const lifted = (await asClient({ consumer: ada }, rules)).response;
  const full = (await asClient({ consumer: bob }, rules)).response;
  assert.equal(full.header('cache-control'), 'private, max-age=60');
  assert.equal(lifted.header('cache-control'), 'private, max-age=60');
  assert.match(full.header('etag') ?? '', /^W\/"1-m[0-9a-f]{8}"$/);
  assert.match(lifted.header('etag') ?? '', /^W\/"1-m[0-9a-f]{8}"$/);
  assert.notEqual(full.header('etag'), lifted.header('etag'));
  const none = (await asClient({ consumer: ada }, [{ json_paths: ['$.a'], except_groups: ['staff'] }])).response;
  assert.equal(none.header('etag'), '"1"');
  assert.equal(none.header('cache-control'), 'private, max-age=60');
  const alike = (await asClient({}, [{ json_paths: ['$.a'] }])).response;
  assert.equal(alike.header('cache-control'), 'public, max-age=60');
});

test('conditions are told the backend in its own tags, parts are not asked for', async () => {
  const rules: Rules = [{ json_paths: ['$.a'] }];
  const first = await send(rules, {
    backend: { headers: { 'Content-Type': json, ETag: '"x,y"', 'Accept-Ranges': 'bytes' }, body: '{}' },
  });
  const tag = first.response.header('etag') ?? '';
  assert.equal(first.response.header('accept-ranges'), null);
  const second = await send(rules, {
    headers: {
      'If-None-Match': `"other", ${tag}`,
      Range: 'bytes=0-1',
      'If-Range': '"x"',
      'If-Modified-Since': 'Sat, 21 Nov 2026 00:00:00 GMT',
    },
    backend: { status: 304, headers: { ETag: '"x,y"' } },
  });
  assert.equal(second.upstream?.header('if-none-match'), 'W/"x,y"');
  for (const name of ['range', 'if-range', 'if-modified-since'])
    assert.equal(second.upstream?.header(name), null, name);
  assert.equal(second.response.status, 304);
  assert.equal(second.response.header('etag'), tag);
  const foreign = await send(rules, { headers: { 'If-None-Match': '"x,y", *' } });
  assert.equal(foreign.upstream?.header('if-none-match'), null);
});

test('parts of bodies and streams of events are refused', async () => {
  const rules: Rules = [{ json_paths: ['$.a'] }];
  const part = await send(rules, {
    backend: { status: 206, headers: { 'Content-Type': json, 'Content-Range': 'bytes 0-1/9' }, body: '{}' },
  });
  assert.equal(part.response.status, 502);
  assert.equal(await answered(rules, 'text/event-stream', 'data: {"a":1}\n\n'), 502);
  assert.equal(
    await answered(rules, 'text/event-stream', 'data: 1\n\n', { pass_types: ['text/event-stream'] }),
    'data: 1\n\n',
  );
});

test('large bodies are masked in a thread, to the same result', async () => {
  const items = Array.from({ length: 6000 }, (_, at) => ({
    id: at,
    mail: `user${at}@example.com`,
    name: 'x'.repeat(40),
  }));
  const rules: Rules = [{ kinds: ['email'], action: 'hash' }, { json_paths: ['$[*].name'] }];
  const config = { hash_key: 'a key of sixteen' };
  const large = (await answered(rules, json, JSON.stringify(items), config)) as string;
  const small = (await answered(rules, json, JSON.stringify(items.slice(0, 20)), config)) as string;
  assert.ok(large.startsWith(small.slice(0, -1)));
  assert.doesNotMatch(large, /@|xxx/);
  assert.equal(await answered(rules, json, `${JSON.stringify(items)}x`, config), 502);
});
