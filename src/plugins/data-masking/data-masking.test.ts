import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import dataMasking from './index.ts';
import { answered, type Config, json, type Rules, sent, withNames } from './testing/send.ts';

async function problem(rules: Rules, config: Config = {}): Promise<string> {
  const checked = await testPlugin(dataMasking).check({ rules: withNames(rules), ...config });
  return checked.ok ? '' : checked.message;
}

test('invalid configurations are refused', async () => {
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

test('JSON is masked in both directions, or in the direction of the rule', async () => {
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

test('custom patterns', async () => {
  const rule = { patterns: ['[A-Z]{2}-\\d{4}', 'geheim(nis)?'] };
  assert.equal(
    await answered([rule], json, '{"a":"x AB-1234 y","b":"Ein geheimnis"}'),
    '{"a":"x *** y","b":"Ein ***"}',
  );
  assert.equal(await answered([rule], 'text/plain', 'AB-1234,geheim'), '***,***');
});

test('large bodies are masked in a thread, with the same result', async () => {
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
