import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from './http-error.ts';
import { decodeBody } from './request-body.ts';

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';

async function refusal(type: string | undefined, body: string | Uint8Array): Promise<string> {
  const error = await decodeBody(type, Buffer.from(body)).then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof HttpError, 'the body was accepted');
  return `${error.status} ${error.message}`;
}

test('JSON objects are read, an empty list counts as an empty object', async () => {
  assert.deepEqual((await decodeBody(json, Buffer.from('{"a":{"b":[1]}}'))).value, { a: { b: [1] } });
  assert.deepEqual((await decodeBody('application/json; charset=utf-8', Buffer.from('[]'))).value, {});
});

test('what is not a JSON object is refused', async () => {
  const bodies = ['', '{', 'null', '1', '"text"', '[1]', '{"a":1}x', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])];
  for (const body of bodies) assert.equal(await refusal(json, body), '400 Cannot parse JSON body', String(body));
});

test('JSON that would pollute prototypes or exhaust memory is refused', async () => {
  assert.equal(await refusal(json, '{"a":{"__proto__":{"admin":true}}}'), '400 Cannot parse JSON body');
  assert.equal(await refusal(json, '{"\\u005f_proto__":1}'), '400 Cannot parse JSON body');
  assert.equal(await refusal(json, `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`), '400 Cannot parse JSON body');
});

test('a form is decoded and marked as text', async () => {
  const body = await decodeBody(form, Buffer.from('name=a+b&config.minute=5&paths[]=%2Fx'));
  assert.equal(body.form, true);
  assert.deepEqual(JSON.parse(JSON.stringify(body.value)), { name: 'a b', config: { minute: '5' }, paths: ['/x'] });
});

test('more than 1000 arguments are refused', async () => {
  assert.equal(await refusal(form, 'a=1&'.repeat(1001)), '400 Too many arguments');
});

test('a multipart body is decoded like a form, files by their content', async () => {
  const part = (name: string, value: string, more = ''): string =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const text = `${part('name', 'svc')}${part('cert', 'PEM', '; filename="a.pem"')}--x--\r\n`;
  const body = await decodeBody('multipart/form-data; boundary=x', Buffer.from(text));
  assert.deepEqual(JSON.parse(JSON.stringify(body.value)), { name: 'svc', cert: 'PEM' });
});

test('a broken multipart body is refused', async () => {
  assert.match(await refusal('multipart/form-data; boundary=x', '--y\r\nnonsense'), /^400 /);
  assert.match(await refusal('multipart/form-data', '--x--'), /^400 /);
});

test('other content types are refused, a missing one only with a body', async () => {
  assert.equal(await refusal('text/plain', 'a=1'), '415 Unsupported media type');
  assert.equal(await refusal('application/xml', ''), '415 Unsupported media type');
  assert.equal(await refusal(undefined, 'a=1'), '415 Unsupported media type');
  assert.deepEqual((await decodeBody(undefined, Buffer.from(''))).value, {});
});

test('JSON beyond the limits is refused before it is parsed', async () => {
  const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`;
  assert.equal(Object.keys((await decodeBody(json, Buffer.from(members(9_990)))).value).length, 9_990);
  assert.equal(await refusal(json, members(10_001)), '400 Too many values in the body: at most 10000');
  assert.equal(await refusal(json, `{"a":[${'{},'.repeat(10_000)}`), '400 Too many values in the body: at most 10000');
  const texts = (count: number) => JSON.stringify({ a: Array<string>(count).fill('"\\'.repeat(1000)) });
  assert.ok(Array.isArray((await decodeBody(json, Buffer.from(texts(60)))).value['a']));
  assert.match(await refusal(json, texts(66)), /^400 Too much text in the body: at most 262144 bytes/);
});

test('a document of megabytes is read, also when a quote falls on a chunk boundary', async () => {
  for (const shift of [0, 1, 2, 3]) {
    const document = `${'x'.repeat(shift)}${'\\"[{,'.repeat(700_000)}`;
    const body = await decodeBody(json, Buffer.from(JSON.stringify({ document })));
    assert.equal(body.value['document'], document);
  }
});
