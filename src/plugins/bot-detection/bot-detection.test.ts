import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { type PluginTest, testPlugin } from '../../plugin-testing/index.ts';
import botDetection from './index.ts';

async function statusOf(plugin: PluginTest, agent: string): Promise<number> {
  return (await plugin.request({ headers: { 'User-Agent': agent } })).response.status;
}

const bots = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Twitterbot/1.0',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
  'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)',
  'SomethingNobodyKnowsBot/1.0',
  'unknownbot/v2',
  'example-spider/3.1',
  'ExampleCrawler 0.1',
  'Apache-HttpClient/4.5.14 (Java/17.0.9)',
  'Go-http-client/1.1',
  'okhttp/4.12.0',
  'axios/1.6.2',
  'Python-urllib/3.11',
  'python-requests/2.31.0',
  'Boto3/1.28.0 Python/3.11',
  'reqwest/0.11',
];

const people = [
  'curl/8.5.0',
  'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 9; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0 Mobile Safari/537.36',
  'Mozilla/5.0',
  '',
];

test('refuses crawlers and HTTP libraries, accepts browsers and curl', async () => {
  const plugin = testPlugin(botDetection);
  // Twice, because the second decision comes from the cache.
  for (const _ of [1, 2]) {
    for (const agent of bots) assert.equal(await statusOf(plugin, agent), 403, agent);
    for (const agent of people) assert.equal(await statusOf(plugin, agent), 200, agent);
  }
});

test('refuses with the error template before the backend', async () => {
  const { response, upstream, requestId } = await testPlugin(botDetection).request({
    headers: { 'User-Agent': 'Googlebot/2.1' },
  });
  assert.equal(upstream, null);
  assert.equal(response.body, `{\n  "message":"Forbidden",\n  "request_id":"${requestId}"\n}`);
});

test('accepts a request without the header, refuses one with two', async () => {
  const plugin = testPlugin(botDetection);
  assert.equal((await plugin.request()).response.status, 200);
  const { response } = await plugin.request({ headers: { 'User-Agent': ['curl/8.5.0', 'curl/8.5.0'] } });
  assert.equal(response.status, 400);
  assert.match(response.body, /"message":"Only one User-Agent header allowed"/);
});

test('applies allow before deny, and both before the known bots', async () => {
  const plugin = testPlugin(botDetection, { config: { allow: ['Googlebot', '^ours/'], deny: ['curl', 'ours'] } });
  assert.equal(await statusOf(plugin, 'Googlebot/2.1'), 200);
  assert.equal(await statusOf(plugin, 'ours/1.0'), 200);
  assert.equal(await statusOf(plugin, 'not ours/1.0'), 403);
  assert.equal(await statusOf(plugin, 'curl/8.5.0'), 403);
  assert.equal(await statusOf(plugin, 'bingbot/2.0'), 403);
  assert.equal(await statusOf(plugin, 'Mozilla/5.0'), 200);
});

test('refuses an expression that is invalid or could take more than linear time', async () => {
  for (const pattern of ['(', '(a)\\1', '(?=a)']) {
    const result = await testPlugin(botDetection).check({ deny: [pattern] });
    assert.equal(result.ok, false, pattern);
  }
});

test('decides at once on a user agent of the maximum length', async () => {
  const plugin = testPlugin(botDetection, { config: { deny: ['(x+x+)+y'] } });
  const started = cpuTime();
  assert.equal(await statusOf(plugin, 'x'.repeat(30_000)), 200);
  assert.equal(await statusOf(plugin, `${'x'.repeat(30_000)}y`), 403);
  assert.ok(cpuTime() - started < 1000);
});
