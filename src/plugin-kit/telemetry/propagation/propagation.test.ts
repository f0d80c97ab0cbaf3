import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../../test/support/cpu-time.ts';
import { definePlugin, httpProtocols } from '../../../plugin-sdk/index.ts';
import { record } from '../../../plugin-sdk/schema.ts';
import { testPlugin } from '../../../plugin-testing/index.ts';
import type { OutgoingTrace, RemoteTrace } from './formats.ts';
import { Propagation } from './propagation.ts';
import { type PropagationSettings, propagationRules, traceHeaders } from './rules.ts';

/*
 * Headers of each form in and out. Requests go through the same context as in the gateway.
 */

type Headers = Readonly<Record<string, string | readonly string[]>>;

const trace32 = '0af7651916cd43dd8448eb211c80319c';
const trace16 = '8448eb211c80319c';
const span = 'b7ad6b7169203331';

function settings(
  propagation: Partial<PropagationSettings['propagation']>,
  rest: Partial<PropagationSettings> = {},
): PropagationSettings {
  return {
    header_type: 'preserve',
    propagation: { extract: null, clear: null, inject: null, default_format: 'w3c', ...propagation },
    ...rest,
  };
}

const outgoing = { traceId: trace32, short: false, spanId: span, parentId: '', sampled: true, remote: null } as const;

/** What is read of a request, and what the backend gets. */
async function through(
  rules: PropagationSettings,
  headers: Headers,
  next: Partial<OutgoingTrace> = {},
): Promise<{ remote: RemoteTrace | null; headers: Readonly<Record<string, readonly string[]>> }> {
  const propagation = new Propagation(rules);
  let remote: RemoteTrace | null = null;
  const plugin = definePlugin({
    name: 'reader',
    version: '1.0.0',
    priority: 1,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access(context) {
        remote = propagation.extract(context);
        const { traceId, short } = remote === null || remote.traceId === '' ? outgoing : remote;
        propagation.inject(context, { ...outgoing, traceId, short, remote, ...next });
        return undefined;
      },
    }),
  });
  const { upstream } = await testPlugin(plugin).request({ headers, traced: true });
  return { remote, headers: upstream?.headers ?? {} };
}

async function read(headers: Headers): Promise<RemoteTrace | null> {
  return (await through(settings({}), headers)).remote;
}

const good: readonly (readonly [string, Headers, Partial<RemoteTrace>])[] = [
  [
    'w3c',
    { traceparent: `00-${trace32}-${span}-01` },
    { format: 'w3c', traceId: trace32, spanId: span, sampled: true },
  ],
  ['w3c, not sampled', { traceparent: `00-${trace32}-${span}-02` }, { sampled: false }],
  ['w3c of a later version', { traceparent: `01-${trace32}-${span}-01-more` }, { traceId: trace32 }],
  [
    'w3c with state',
    { traceparent: `00-${trace32}-${span}-01`, tracestate: ['a=1', ' b@c=2 ,'] },
    { state: 'a=1,b@c=2' },
  ],
  [
    'b3',
    { 'X-B3-TraceId': trace32, 'X-B3-SpanId': span, 'X-B3-Sampled': '0' },
    { format: 'b3', traceId: trace32, sampled: false },
  ],
  [
    'b3 of 64 bits',
    { 'x-b3-traceid': trace16, 'x-b3-spanid': span },
    { traceId: `${'0'.repeat(16)}${trace16}`, short: true, sampled: null },
  ],
  ['b3 with words', { 'x-b3-traceid': trace16, 'x-b3-spanid': span, 'x-b3-sampled': 'true' }, { sampled: true }],
  ['b3, debug', { 'x-b3-traceid': trace16, 'x-b3-spanid': span, 'x-b3-flags': '1' }, { sampled: true, debug: true }],
  ['b3, a decision alone', { 'x-b3-sampled': '0' }, { format: 'b3', traceId: '', sampled: false }],
  [
    'b3-single',
    { b3: `${trace32}-${span}-1-${trace16}` },
    { format: 'b3-single', traceId: trace32, spanId: span, sampled: true },
  ],
  ['b3-single, undecided', { b3: `${trace16}-${span}` }, { short: true, sampled: null }],
  ['b3-single, debug', { b3: `${trace32}-${span}-d` }, { sampled: true, debug: true }],
  ['b3-single, a decision alone', { b3: '0' }, { format: 'b3-single', traceId: '', sampled: false }],
  [
    'jaeger',
    { 'uber-trace-id': `${trace32}:${span}:0:1` },
    { format: 'jaeger', traceId: trace32, spanId: span, sampled: true },
  ],
  [
    'jaeger, escaped, short, upper case',
    { 'uber-trace-id': 'ABC%3a1f%3A0%3a0' },
    { traceId: `${'0'.repeat(29)}abc`, short: true, spanId: `${'0'.repeat(14)}1f`, sampled: false },
  ],
  ['jaeger, debug', { 'uber-trace-id': `${trace32}:${span}:0:3` }, { sampled: true, debug: true }],
  [
    'ot',
    { 'ot-tracer-traceid': trace16, 'ot-tracer-spanid': span, 'ot-tracer-sampled': 'false' },
    { format: 'ot', short: true, sampled: false },
  ],
  [
    'datadog',
    {
      'x-datadog-trace-id': '9532127138774266268',
      'x-datadog-parent-id': '13235353014750950193',
      'x-datadog-sampling-priority': '1',
    },
    { format: 'datadog', traceId: `${'0'.repeat(16)}${trace16}`, short: true, spanId: span, sampled: true },
  ],
  [
    'datadog of 128 bits',
    { 'x-datadog-trace-id': '9532127138774266268', 'x-datadog-tags': '_dd.p.dm=-1,_dd.p.tid=0af7651916cd43dd' },
    { traceId: trace32, short: false, spanId: '', sampled: null },
  ],
  [
    'datadog, the largest',
    { 'x-datadog-trace-id': '18446744073709551615' },
    { traceId: `${'0'.repeat(16)}${'f'.repeat(16)}` },
  ],
  ['datadog, dropped', { 'x-datadog-trace-id': '1', 'x-datadog-sampling-priority': '-1' }, { sampled: false }],
  [
    'aws',
    {
      'X-Amzn-Trace-Id': `Self=1-1-1;Root=1-${trace32.slice(0, 8)}-${trace32.slice(8)};Parent=${span};Sampled=1;Lineage=x`,
    },
    { format: 'aws', traceId: trace32, spanId: span, sampled: true },
  ],
  [
    'aws of a load balancer',
    { 'x-amzn-trace-id': `Root=1-${trace32.slice(0, 8)}-${trace32.slice(8)}` },
    { spanId: '', sampled: null },
  ],
  [
    'gcp',
    { 'X-Cloud-Trace-Context': `${trace32}/13235353014750950193;o=1` },
    { format: 'gcp', traceId: trace32, spanId: span, sampled: true },
  ],
  ['gcp without a span', { 'x-cloud-trace-context': trace32 }, { spanId: '', sampled: null }],
];

for (const [name, headers, expected] of good) {
  test(`${name} is read`, async () => {
    const remote = await read(headers);
    assert.deepEqual({ ...remote, ...expected }, remote);
    assert.notEqual(remote, null);
  });
}

const bad: readonly Headers[] = [
  { traceparent: `00-${'0'.repeat(32)}-${span}-01` },
  { traceparent: `00-${trace32}-${'0'.repeat(16)}-01` },
  { traceparent: `00-${trace32.toUpperCase()}-${span}-01` },
  { traceparent: `00-${trace32}-${span}-01-more` },
  { traceparent: `00-${trace32}-${span}-1` },
  { traceparent: `ff-${trace32}-${span}-01` },
  { traceparent: `00-${trace32}0-${span}-01` },
  { traceparent: [`00-${trace32}-${span}-01`, `00-${trace32}-${span}-01`] },
  { traceparent: '' },
  { traceparent: '-'.repeat(8000) },
  { tracestate: 'a=1' },
  { b3: `${trace32}-${span}-2` },
  { b3: `${trace32}` },
  { b3: `${trace32}-${span}-1-${span}-1` },
  { b3: `${trace32}-${span}-1-zz` },
  { b3: `${trace32.toUpperCase()}-${span}` },
  { b3: 'x' },
  { 'x-b3-traceid': trace32 },
  { 'x-b3-traceid': trace32.slice(1), 'x-b3-spanid': span },
  { 'x-b3-traceid': '0'.repeat(32), 'x-b3-spanid': span },
  { 'x-b3-traceid': [trace32, trace16], 'x-b3-spanid': span },
  { 'x-b3-sampled': 'yes' },
  { 'uber-trace-id': `${trace32}0:${span}:0:1` },
  { 'uber-trace-id': `0:${span}:0:1` },
  { 'uber-trace-id': `${trace32}:${span}:1` },
  { 'uber-trace-id': `${trace32}:${span}:0:zz` },
  { 'uber-trace-id': `${'%3a'.repeat(3000)}` },
  { 'ot-tracer-traceid': trace16 },
  { 'ot-tracer-sampled': 'maybe' },
  { 'x-datadog-trace-id': '0' },
  { 'x-datadog-trace-id': '18446744073709551616' },
  { 'x-datadog-trace-id': '-1' },
  { 'x-datadog-trace-id': '1e3' },
  { 'x-datadog-trace-id': '9'.repeat(8000) },
  { 'x-datadog-sampling-priority': '3' },
  { 'x-amzn-trace-id': 'Root=1-x-y' },
  { 'x-amzn-trace-id': `Root=1-${'0'.repeat(8)}-${'0'.repeat(24)}` },
  {
    'x-amzn-trace-id': `Root=1-${trace32.slice(0, 8)}-${trace32.slice(8)};Root=1-${trace32.slice(0, 8)}-${trace32.slice(8)}`,
  },
  { 'x-amzn-trace-id': ';'.repeat(8000) },
  { 'x-cloud-trace-context': `${'0'.repeat(32)}/1;o=1` },
  { 'x-cloud-trace-context': `${trace32}/x;o=1` },
  { 'x-cloud-trace-context': `${trace32}/1;o=2` },
];

for (const headers of bad) {
  test(`as if it were not there: ${JSON.stringify(headers).slice(0, 90)}`, async () => {
    const { remote, headers: sent } = await through(settings({}), headers);
    assert.equal(remote, null);
    // A trace of the gateway's own; no state of another one goes with it.
    assert.deepEqual(sent['traceparent'], [`00-${trace32}-${span}-01`]);
    assert.equal(sent['tracestate'], undefined);
  });
}

test('a state that is malformed does not spoil the trace; a long one loses its longest members, then its last ones', async () => {
  const traceparent = `00-${trace32}-${span}-01`;
  const broken = await through(settings({}), { traceparent, tracestate: 'no member' });
  assert.equal(broken.remote?.traceId, trace32);
  assert.equal(broken.headers['tracestate'], undefined);
  const members = Array.from({ length: 90 }, (_, at) => `k${at}=${'v'.repeat(at === 3 ? 200 : 80)}`);
  const { headers } = await through(settings({}), { traceparent, tracestate: members.join(',') });
  const [state = ''] = headers['tracestate'] ?? [];
  assert.ok(state.length <= 4096 && state.split(',').length === 32);
  assert.deepEqual(state.split(','), members.filter((_, at) => at !== 3).slice(0, 32));
  // Of thousands only the first are looked at.
  const many = `${'a=1,'.repeat(5000)}no member`;
  const kept = (await through(settings({}), { traceparent, tracestate: many })).headers['tracestate'];
  assert.deepEqual(kept, [Array(32).fill('a=1').join(',')]);
});

const written: readonly (readonly [
  PropagationSettings['propagation']['default_format'],
  Partial<OutgoingTrace>,
  Headers,
])[] = [
  ['w3c', {}, { traceparent: `00-${trace32}-${span}-01` }],
  ['w3c', { sampled: false }, { traceparent: `00-${trace32}-${span}-00` }],
  [
    'b3',
    { parentId: trace16 },
    { 'x-b3-traceid': trace32, 'x-b3-spanid': span, 'x-b3-sampled': '1', 'x-b3-parentspanid': trace16 },
  ],
  ['b3-single', { short: true, parentId: trace16 }, { b3: `${trace16}-${span}-1-${trace16}` }],
  ['jaeger', { sampled: false }, { 'uber-trace-id': `${trace32}:${span}:0:0` }],
  ['ot', {}, { 'ot-tracer-traceid': trace32, 'ot-tracer-spanid': span, 'ot-tracer-sampled': 'true' }],
  [
    'datadog',
    {},
    {
      'x-datadog-trace-id': '9532127138774266268',
      'x-datadog-parent-id': '13235353014750950193',
      'x-datadog-sampling-priority': '1',
      'x-datadog-tags': '_dd.p.tid=0af7651916cd43dd',
    },
  ],
  ['aws', {}, { 'x-amzn-trace-id': `Root=1-${trace32.slice(0, 8)}-${trace32.slice(8)};Parent=${span};Sampled=1` }],
  ['gcp', { sampled: false }, { 'x-cloud-trace-context': `${trace32}/13235353014750950193;o=0` }],
];

for (const [format, next, expected] of written) {
  test(`${format} is written, and read again as the same`, async () => {
    const { headers } = await through(settings({ extract: [], inject: [format] }), {}, next);
    const own = Object.fromEntries(Object.keys(expected).map((name) => [name, headers[name]?.join()]));
    assert.deepEqual(own, expected);
    assert.equal(headers['host'] === undefined && Object.keys(headers).length, Object.keys(expected).length);
    const remote = await read(expected);
    assert.equal(remote?.format, format);
    assert.equal(remote?.spanId, span);
    assert.equal(remote?.sampled, next.sampled ?? true);
    assert.equal(remote?.traceId.slice(16), trace16);
  });
}

test('preserve: what came in a form goes on in it, and is the same trace with another span', async () => {
  for (const [name, headers] of good) {
    if (name.includes('alone') || name.includes('later version')) continue;
    const { remote, headers: sent } = await through(settings({}), headers, { spanId: trace16 });
    const again = await read(Object.fromEntries(Object.entries(sent).map(([key, values]) => [key, [...values]])));
    assert.equal(again?.format, remote?.format, name);
    assert.equal(again?.traceId, remote?.traceId, name);
    assert.equal(again?.spanId, trace16, name);
    assert.equal(again?.state, remote?.state, name);
  }
});

test('what is inserted takes the place of all lines of the client, in whichever case and with underscores', async () => {
  const { headers } = await through(settings({ extract: [], inject: ['b3', 'w3c'] }), {
    Traceparent: ['a', 'b'],
    tracestate: 'c=1',
    'X-B3-TraceId': ['d', 'e'],
    X_B3_Sampled: '0',
    'x-b3-flags': '1',
  });
  assert.deepEqual(headers['traceparent'], [`00-${trace32}-${span}-01`]);
  assert.deepEqual(headers['x-b3-traceid'], [trace32]);
  assert.deepEqual(headers['x-b3-sampled'], ['1']);
  for (const name of ['tracestate', 'x_b3_sampled', 'x-b3-flags']) assert.equal(headers[name], undefined, name);
});

test('clear: headers that do not go on', async () => {
  const rules = settings({ extract: ['jaeger'], clear: ['Uber-Trace-Id', 'X-Other'], inject: ['w3c'] });
  const { headers } = await through(rules, {
    'uber-trace-id': `${trace32}:${span}:0:1`,
    'x-other': '1',
    'x-kept': '2',
  });
  assert.deepEqual(headers['traceparent'], [`00-${trace32}-${span}-01`]);
  assert.equal(headers['uber-trace-id'], undefined);
  assert.equal(headers['x-other'], undefined);
  assert.deepEqual(headers['x-kept'], ['2']);
});

test('the first form in the list counts', async () => {
  const headers = { b3: `${trace16}-${span}-1`, traceparent: `00-${trace32}-${span}-01` };
  assert.equal((await through(settings({ extract: ['b3', 'w3c'] }), headers)).remote?.format, 'b3-single');
  assert.equal((await through(settings({ extract: ['w3c', 'b3'] }), headers)).remote?.format, 'w3c');
  assert.equal((await through(settings({ extract: ['aws'] }), headers)).remote, null);
});

test('header_type: preserve, ignore, a form besides; the lists of propagation win', () => {
  const usual = { default_header_type: 'b3' } as const;
  assert.deepEqual(propagationRules(settings({ default_format: 'b3' }, usual)), {
    extract: ['b3', 'w3c', 'jaeger', 'ot', 'datadog', 'aws', 'gcp'],
    clear: [],
    inject: ['preserve'],
    fallback: 'b3',
  });
  assert.equal(propagationRules(settings({ default_format: 'w3c' }, usual)).fallback, 'w3c');
  assert.deepEqual(propagationRules(settings({}, { header_type: 'ignore', default_header_type: 'gcp' })), {
    extract: [],
    clear: [],
    inject: ['gcp'],
    fallback: null,
  });
  assert.deepEqual(propagationRules(settings({}, { header_type: 'aws' })).inject, ['preserve', 'aws']);
  assert.deepEqual(propagationRules(settings({ inject: ['ot'] }, { header_type: 'aws' })), {
    extract: [],
    clear: [],
    inject: ['ot'],
    fallback: 'w3c',
  });
});

test('requests with any header that counts are recorded', () => {
  assert.deepEqual(traceHeaders(settings({ extract: ['jaeger'], inject: ['b3'] })), ['uber-trace-id']);
  assert.deepEqual(traceHeaders(settings({}, { header_type: 'ignore' })), ['traceparent', 'tracestate']);
  assert.equal(traceHeaders(settings({})).length, 13);
});

test('the log record has the id as each form writes it', () => {
  const all = ['w3c', 'b3', 'jaeger', 'ot', 'datadog', 'aws', 'gcp'] as const;
  assert.deepEqual(new Propagation(settings({ inject: all })).logged({ ...outgoing, short: true }), {
    w3c: trace32,
    b3: trace16,
    jaeger: trace16,
    ot: trace16,
    datadog: '9532127138774266268',
    aws: `1-${trace32.slice(0, 8)}-${trace32.slice(8)}`,
    gcp: trace32,
  });
});

/** A small generator, so that a case that fails can be made again. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('whatever the headers hold, ids are ids or there are none', async () => {
  const next = randoms(20261121);
  const names = [
    ...traceHeaders(settings({})),
    'x-b3-spanid',
    'x-datadog-parent-id',
    'x-datadog-tags',
    'ot-tracer-spanid',
  ];
  const parts = [
    '0',
    '1',
    'd',
    'f',
    '00',
    '-',
    ':',
    ';',
    '/',
    '=',
    ',',
    '%3a',
    'Root=1-',
    'o=',
    '_dd.p.tid=',
    trace32,
    trace16,
    span,
    '9532127138774266268',
    ' ',
    'Z',
    'é',
  ];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  for (let round = 0; round < 1500; round++) {
    const headers: Record<string, string> = {};
    for (let at = 0; at < 3; at++) {
      headers[pick(names)] = Array.from({ length: 1 + Math.floor(next() * 8) }, () => pick(parts))
        .join('')
        .trim();
    }
    const remote = await read(headers);
    if (remote === null) continue;
    const shown = JSON.stringify(headers);
    assert.match(remote.traceId, /^(?:[0-9a-f]{32})?$/, shown);
    assert.match(remote.spanId, /^(?:[0-9a-f]{16})?$/, shown);
    assert.ok(remote.traceId !== '0'.repeat(32) && remote.spanId !== '0'.repeat(16), shown);
    assert.ok(remote.traceId !== '' || remote.sampled !== null, shown);
  }
});

test('the longest headers are read in no time', async () => {
  const long = 14_000;
  for (const [name, part] of [
    ['traceparent', '0'],
    ['tracestate', 'a=1,'],
    ['tracestate', ' '],
    ['b3', '1-'],
    ['uber-trace-id', '%3a'],
    ['x-datadog-trace-id', '9'],
    ['x-datadog-tags', '_dd.p.tid=,'],
    ['x-amzn-trace-id', 'Root=;'],
    ['x-cloud-trace-context', '1'],
  ] as const) {
    const headers = { traceparent: `00-${trace32}-${span}-01`, [name]: part.repeat(long / part.length) };
    const start = cpuTime();
    await read(headers);
    assert.ok(cpuTime() - start < 250, name);
  }
});
