import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { testPlugin } from '../../../plugin-testing/index.ts';
import plugin from '../index.ts';
import { answered, form, json, type Rules, send, sent } from '../testing/send.ts';

const email = [{ kinds: ['email'] }];

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

test('multipart forms: whitespace in the headers of parts takes linear time', async () => {
  const part = `--XX\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain;${' '.repeat(8000)}charset=utf-8\r\n\r\n1\r\n`;
  const { user } = process.cpuUsage();
  await sent(email, 'multipart/form-data; boundary=XX', `${part.repeat(120)}--XX--`);
  assert.ok(process.cpuUsage().user - user < 1_200_000);
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
  // Split by CDATA sections and comments, and with character references.
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

test('texts: kinds in every supported charset; documents that are sent as text are refused', async () => {
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
  // Without kinds and patterns nothing is searched in a text.
  assert.equal(await answered([{ json_paths: ['$.a'] }], 'text/plain', 'x'), 502);
});

test('unreadable bodies are refused: 400, 413 or 415 for requests, 502 for responses', async () => {
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

test('pass_types are passed unread', async () => {
  const rules = [{ json_paths: ['$.a'] }];
  const passing = { pass_types: ['image/*', 'text/plain'] };
  assert.equal(await answered(rules, 'image/png', '{"a":"x"}', passing), '{"a":"x"}');
  assert.equal(await answered(rules, 'text/plain;charset=x', 'x', passing), 'x');
  assert.equal(await answered(rules, 'text/html', 'x', passing), 502);
  assert.equal(await answered(rules, 'text/html', 'x', { pass_types: ['*/*'] }), 'x');
  // Types that rules can mask are still masked.
  assert.equal(await answered(rules, json, '{"a":"x"}', { pass_types: ['*/*'] }), '{"a":"***"}');
  assert.equal(await answered(rules, null, '{"a":"x"}', { pass_types: ['*/*'] }), 502);
});

test('content codings are removed, unknown ones refused', async () => {
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

test('partial responses and event streams are refused', async () => {
  const rules: Rules = [{ json_paths: ['$.a'] }];
  const part = await send(rules, {
    backend: { status: 206, headers: { 'Content-Type': json, 'Content-Range': 'bytes 0-1/9' }, body: '{}' },
  });
  assert.equal(part.response.status, 502);
  assert.equal(await answered(rules, 'text/event-stream', 'data: {"a":1}\n\n'), 502);
  const headers = { 'Content-Type': 'Text/Event-Stream; charset=utf-8' };
  const failing = await send(rules, { backend: { status: 500, headers, body: 'data: {"a":1}\n\n' } });
  assert.equal(failing.response.status, 502);
  assert.equal(
    await answered(rules, 'text/event-stream', 'data: 1\n\n', { pass_types: ['text/event-stream'] }),
    'data: 1\n\n',
  );
});

test('responses that cannot be masked are logged, throttled, and without their content', async () => {
  const { request, logLines, counts } = testPlugin(plugin, { config: { rules: [{ name: 'a', kinds: ['email'] }] } });
  const backend = { headers: { 'Content-Type': 'application/json' }, body: '{"a": secret' };
  for (let n = 0; n < 3; n++) assert.equal((await request({ backend })).response.status, 502);
  assert.equal(counts.get('data-masking.refused_answers'), 3);
  assert.equal(logLines.length, 1);
  assert.match(logLines[0]?.message ?? '', /cannot be masked.*line 1, column 7/);
  assert.doesNotMatch(JSON.stringify(logLines), /secret/);
});
