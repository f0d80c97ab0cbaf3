import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import plugin from './index.ts';

type Config = Readonly<Record<string, unknown>>;

async function changed(config: Config, body: string, type = 'application/json'): Promise<string | undefined> {
  const { upstream } = await testPlugin(plugin, { config }).request({
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
  return upstream?.body?.toString();
}

async function problem(config: Config): Promise<string> {
  const checked = await testPlugin(plugin).check(config);
  return checked.ok ? '' : checked.message;
}

test('finds JSON fields by RFC 9535 paths', async () => {
  const body = '{"items":[{"id":1,"kind":"a"},{"id":2,"kind":"b:c"},{"id":3}],"user":{"mail":"x"}}';
  const cases: readonly (readonly [config: Config, result: string])[] = [
    [{ remove: { body: ['$.items', '$..mail'] } }, '{"user":{}}'],
    [{ remove: { body: ['$.items[0:2]'] } }, '{"items":[{"id":3}],"user":{"mail":"x"}}'],
    [{ remove: { body: ['$.user', "$.items[?@.kind == 'a']", '$.items[*].kind'] } }, '{"items":[{"id":2},{"id":3}]}'],
    [{ remove: { body: ['$.items'] }, replace: { body: ['$.user.mail:$.a:b'] } }, '{"user":{"mail":"$.a:b"}}'],
    [
      { remove: { body: ['$.user'] }, rename: { body: ["$.items[?@.kind == 'b:c'].id:key", '$.items[0:1].id:first'] } },
      '{"items":[{"kind":"a","first":1},{"kind":"b:c","key":2},{"id":3}]}',
    ],
    [
      { remove: { body: ['$.items[*].kind', '$.user'] }, add: { body: ['$.items[1:].tag.name:x', "$['a.b']:y"] } },
      '{"items":[{"id":1},{"id":2,"tag":{"name":"x"}},{"id":3,"tag":{"name":"x"}}],"a.b":"y"}',
    ],
    [{ remove: { body: ['$.items'] }, append: { body: ['$..mail:y'] } }, '{"user":{"mail":["x","y"]}}'],
  ];
  for (const [config, result] of cases) assert.equal(await changed(config, body), result, JSON.stringify(config));
});

test('keeps the meaning of names from Kong', async () => {
  const body = '{"user.mail":1,"user":{"mail":2},"tags[]":3,"$id":4}';
  assert.equal(await changed({ remove: { body: ['user.mail', 'tags[]', '$id'] } }, body), '{"user":{"mail":2}}');
  assert.equal(await changed({ remove: { body: ['user.mail'] } }, '{"user":{"mail":2}}'), '{"user":{}}');
});

test('uses a path as the field name in a form, with the colons in its brackets', async () => {
  const form = 'application/x-www-form-urlencoded';
  assert.equal(await changed({ replace: { body: ['$.a[0:2]:x'] } }, '%24.a%5B0%3A2%5D=1', form), '%24.a%5B0%3A2%5D=x');
});

test('refuses an invalid path', async () => {
  assert.match(await problem({ remove: { body: ['$..[?@.a == $.b]'] } }), /cannot compare/);
  assert.match(await problem({ add: { body: ['$.a[0:2]'] } }), /key '\$\.a\[0:2\]' has no value/);
  assert.match(await problem({ remove: { body: ['$.a..'] } }), /is not a JSONPath/);
});
