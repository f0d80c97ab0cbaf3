import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { testExchange } from '../../plugin-testing/test-exchange.ts';
import { privateMeter } from '../../shared/zones/plugin-meter.ts';
import { HeaderEdits } from '../answer/header-edits.ts';
import { parseRequestHead } from '../http1/parse-request.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import type { PluginInstance } from '../plugin-runner/plan.ts';
import type { Exchange } from '../request/exchange.ts';
import { RequestContext } from '../request/request-context.ts';
import { createRandom, type Random } from '../router/testing/random.ts';

/*
 * The text of a record is compared with the JSON of the record object, which `log-record.test.ts` tests field by field.
 */

/** The object's JSON, with route and service last, and every character escaped that some readers treat as an end of line. */
function expectedLine(context: RequestContext): string {
  const { route, service, ...rest } = context.record();
  return JSON.stringify({ ...rest, route, service }).replace(
    /[\x85\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function assertSame(context: RequestContext, why: string): void {
  const text = context.recordText();
  assert.equal(text, expectedLine(context), why);
  assert.doesNotMatch(text, /s3cret/, why);
}

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

const values = [
  '',
  'plain',
  'text/html; charset=utf-8',
  '"quoted"',
  'W/"33a64df5"',
  'back\\slash',
  '\\u2028',
  'a\tb',
  '</script>',
  utf8('grün €'),
  utf8('😀'),
  utf8('line\u2028and\u2029paragraph'),
  utf8('nel\x85'),
  // Bytes that are not UTF-8: single ones, a surrogate, the end of a character missing.
  '\xff\xfe',
  '\x85',
  '\xa0nbsp',
  '\xed\xa0\x80',
  '\xf0\x9f\x98',
  'null',
  '12345678901234567890',
  '{"a":[1]}',
];
const urls = [
  'https://ada:s3cret@app.test/done?id_token=s3cret&page=2#access_token=s3cret&state=x',
  '/plain?x="1"',
  utf8('/grün?x=\x85'),
];
const names = [
  'X-One',
  'x-one',
  'X-ONE',
  'Accept',
  'User-Agent',
  'Sec-Ch-Ua',
  'ETag',
  '__proto__',
  'toJSON',
  'constructor',
  'X-Kong-Request-Id',
  '1',
  '42',
  '007',
  "!#$%&'*+-.^_`|~",
  `X-${'long-'.repeat(20)}name`,
];
const secrets = ['Authorization', 'Cookie', 'Proxy-Authorization', 'X-Api-Key', 'My-Key'];
const argumentNames = ['a', 'b', '1', '__proto__', 'x%20y', 'toJSON', 'gr%C3%BCn', '', '%ED%A0%80', 'A'];
const argumentValues = ['', '1', 'a+b', '%22', '%5C', '%E2%80%A8', '%zz', '%ED%A0%80', '%00', '%F0%9F%98%80'];

function fieldLine(random: Random, response: boolean): string {
  if (random.below(6) === 0) {
    return response
      ? `Set-Cookie: ${random.pick(['sid=s3cret; Path=/', 's3cret', 's3cret; A=1'])}`
      : secretLine(random);
  }
  if (random.below(8) === 0) return `${response ? 'Location' : 'Referer'}: ${random.pick(urls)}`;
  const name = random.below(5) === 0 ? `X-New-${random.below(100_000)}` : random.pick(names);
  return `${name}:${random.pick(['', ' ', ' \t'])}${random.pick(values)}${random.pick(['', ' '])}`;
}

function secretLine(random: Random): string {
  return `${random.pick(secrets)}: ${random.pick(['Basic s3cret', 's3cret'])}`;
}

function block(random: Random, response: boolean): string {
  let text = '';
  for (let left = random.below(random.pick([3, 12])); left > 0; left--) text += `${fieldLine(random, response)}\r\n`;
  return text;
}

function query(random: Random): string {
  const pairs: string[] = [];
  for (let left = random.below(6); left > 0; left--) {
    const equals = random.below(5) > 0;
    pairs.push(`${random.pick(argumentNames)}${equals ? `=${random.pick(argumentValues)}` : ''}`);
    if (random.below(4) === 0) pairs.push(`${random.pick(['my-key', 'ACCESS_TOKEN', 'api%5Fkey'])}=s3cret`);
  }
  return pairs.length === 0 ? random.pick(['', '?']) : `?${pairs.join('&')}`;
}

const log = { debug() {}, info() {}, warn() {}, error() {} };
const secretNeeds = { secrets: { queryArguments: ['My-Key'], headers: ['My-Key', 'X-New-7'] } };
const instance = {
  id: 'i',
  name: 'auth',
  priority: 1,
  phases: {},
  needs: secretNeeds,
  log,
  lease: null,
  meter: privateMeter(),
  budget: null,
  mark: 0,
};
const masking: PluginInstance = {
  ...instance,
  phases: {
    logMask: { query: (text) => text.replaceAll('1', '*'), header: (name, value) => (name === 'x-one' ? '"' : value) },
  },
};
const secretId = { secrets: { queryArguments: ['My-Key'], headers: ['My-Key', 'X-New-7', 'X-Kong-Request-Id'] } };
const plans = [buildPlan([instance]), buildPlan([masking]), buildPlan([{ ...instance, needs: secretId }])];

const numbers = [0, -1, 1, 1.5, 65_535, 2 ** 31, 2 ** 53 - 1, 1e21, 1_700_000_000_000.75];
const texts = ['', 'anna', 'lone \ud800', '\udc00', '"\\\n', '\u2028', '\x7f', 'ä€😀'];

/** Requests of one connection, one after the other. */
function exchangeOf(random: Random, before: Exchange | null): Exchange {
  const x = testExchange({ scheme: random.pick(['http', 'https']) }, random.pick(plans), new TestClient());
  const path = random.pick(['/', '/a/b', utf8('/grün'), '/%22', "/a'()*"]);
  const method = random.pick(['GET', 'POST', 'PROPFIND']);
  const repeated = before !== null && random.below(3) === 0;
  const lines = repeated
    ? before.head.block
    : `Host: ${random.pick(['a.test', 'A.test:8000', '[::1]:80'])}\r\n${block(random, false)}`;
  const head = parseRequestHead(`${method} ${path}${query(random)} HTTP/1.1\r\n${lines}\r\n`);
  // Blocks of HTTP/2 come from another parser, and contain what this one refuses.
  if (!('code' in head)) Object.assign(x, { head });
  if (before !== null && before.peer.scheme === x.peer.scheme) x.peer = before.peer;
  x.status = random.pick([0, 200, 404, 502]);
  x.bytesReceived = random.pick(numbers);
  x.bytesSent = random.pick(numbers);
  x.startedAt = random.pick(numbers);
  x.clientIp = random.pick(['192.0.2.7', '2001:db8::1', 'unix:']);
  x.responseBlock = repeated ? before.responseBlock : block(random, true);
  const id = `X-Kong-Request-Id: ${x.id}\r\n`;
  const latency = `X-Kong-Proxy-Latency: ${random.below(3)}\r\n`;
  x.sentLines = random.pick(['', 'X-Kong-Request-Id: 1\r\n', 'X-One: twice\r\n', id, latency, latency + id, id + id]);
  x.responseSource = random.pick(['upstream', 'gateway']);
  if (random.below(3) === 0) {
    x.responseEdits = new HeaderEdits();
    x.responseEdits.set(random.pick(['X-One', 'ETag']), 'edited "value"');
    x.responseEdits.add('X-Two', random.pick(['1', '\xfc']));
  }
  if (random.below(4) > 0) addAttempts(x, random);
  if (random.below(4) === 0) x.route = null;
  if (random.below(4) === 0) x.service = null;
  addIdentity(x, random);
  addConditions(x, random);
  return x;
}

function addAttempts(x: Exchange, random: Random): void {
  x.upstreamUri = `${random.pick(['/', utf8('/grün'), '/"'])}${query(random)}`;
  x.target = { id: 't', host: 'a.test', ip: null, port: 80, weight: 100, slot: 0 };
  x.targetIp = random.pick(['10.0.0.1', '::1']);
  x.targetPort = 80;
  x.upstreamStatus = random.pick([0, 200, 503]);
  x.attemptStartedMono = x.startedMono + random.below(9) / 4;
  x.upstreamStartedMono = x.startedMono + random.below(9) / 4;
  x.firstByteMono = random.pick([0, x.startedMono + 3.5]);
  x.tries = 1;
  for (let left = random.below(3); left > 0; left--) x.failAttempt(random.pick([502, 504]));
  x.tries += random.below(4);
}

function addIdentity(x: Exchange, random: Random): void {
  if (random.below(2) === 0) {
    const text = (): string | null => random.pick([null, ...texts]);
    const tags = random.pick([[], ['a', random.pick(texts)]]);
    x.consumer = { id: random.pick(texts), username: text(), customId: text(), tags };
  }
  if (random.below(2) === 0) x.credential = { id: random.pick([null, ...texts]), identifier: 's3cret-name' };
}

function addConditions(x: Exchange, random: Random): void {
  const { route } = x;
  if (route === null || random.below(2) === 0) return;
  const headers = { 'X-Api-Key': ['s3cret'], 'X-Tenant': [random.pick(texts)] };
  x.route = { ...route, row: { ...route.row, name: random.pick(texts), headers: random.pick([null, headers]) } };
}

const fieldNames = [
  'trace_id',
  'a.b',
  'x y',
  '1',
  '__proto__',
  'toJSON',
  'request',
  'workspace',
  'tries',
  'consumer',
  'grün',
];
const fieldValues = [
  ...texts,
  ...numbers,
  Number.NaN,
  true,
  null,
  undefined,
  () => 1,
  { w3c: '0af7', 'a\x85': ['\u2028'] },
  [undefined, 'x'],
  new Date(0),
  {},
];

function addFields(context: RequestContext, random: Random): void {
  for (let left = random.below(4); left > 0; left--) {
    // Most fields are plain; a record with an unusual one is written in another way.
    const name = random.below(3) > 0 ? `field_${random.below(3)}` : random.pick(fieldNames);
    // A function of this name would replace the whole record.
    context.log(name, name === 'toJSON' ? 'text' : random.pick(fieldValues));
  }
}

test('the text of a record is the JSON of its object, whatever requests, responses and plugins contain', () => {
  const random = createRandom();
  let before: Exchange | null = null;
  for (let round = 0; round < 3_000; round++) {
    const x = exchangeOf(random, before);
    const context = new RequestContext(x);
    addFields(context, random);
    const why = `round ${round}, seed ${random.seed}`;
    if (random.below(2) === 0) context.record();
    assertSame(context, why);
    // A later plugin of the request.
    addFields(context, random);
    assertSame(context, why);
    before = random.below(4) === 0 ? null : x;
  }
});

test('the text is made once, and again after a plugin has added a field', () => {
  const context = new RequestContext(exchangeOf(createRandom(), null));
  const first = context.recordText();
  assert.equal(context.recordText(), first);
  context.log('more', 'x');
  assert.match(context.recordText(), /"more":"x"/);
});

test('a value that JSON cannot represent throws, as it does for the object', () => {
  for (const value of [1n, { deep: [1n] }]) {
    const context = new RequestContext(exchangeOf(createRandom(), null));
    context.log('bad', value);
    assert.throws(() => context.recordText(), TypeError);
  }
});

test('the headers of a connection are not reused under a plan that masks more', () => {
  const first = exchangeOf(createRandom(), null);
  const head = parseRequestHead('GET / HTTP/1.1\r\nHost: a.test\r\nX-New-7: k1\r\n\r\n');
  assert.ok(!('code' in head));
  Object.assign(first, { head, plan: buildPlan([]) });
  assert.match(new RequestContext(first).recordText(), /k1/);
  const second = exchangeOf(createRandom(), null);
  Object.assign(second, { head, peer: first.peer, plan: plans[0] });
  assert.doesNotMatch(new RequestContext(second).recordText(), /k1/);
});
