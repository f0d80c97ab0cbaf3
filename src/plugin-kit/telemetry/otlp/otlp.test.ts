import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeLogs, decodeTraces } from '../../../../test/support/otlp-receiver.ts';
import { keyValues, resourceOf } from './attributes.ts';
import { encodeLogLine, type LogLine, logsRequest } from './logs.ts';
import { nanoseconds } from './messages.ts';
import { encodeSpan, type Span, tracesRequest } from './spans.ts';

/* What is encoded here, decoded by the definitions of the specification. */

const span: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentId: '',
  name: 'kong',
  kind: 'server',
  start: 1_795_274_527_464.123,
  end: 1_795_274_527_470.5,
  attributes: {},
  error: null,
};
const resource = resourceOf({ id: 'node' }, { 'service.name': 'edge', zone: 'é' });

function sent(change: Partial<Span> = {}) {
  const [decoded, ...others] = decodeTraces(tracesRequest(resource, [encodeSpan({ ...span, ...change })]));
  assert.ok(decoded !== undefined && others.length === 0);
  return decoded;
}

test('a span arrives as it was', () => {
  const decoded = sent({ parentId: 'a7ad6b7169203331', error: 'status 502', traceState: 'a=1' });
  assert.equal(decoded.traceId, span.traceId);
  assert.equal(decoded.spanId, span.spanId);
  assert.equal(decoded.parentSpanId, 'a7ad6b7169203331');
  assert.equal(decoded.traceState, 'a=1');
  assert.deepEqual([decoded.kind, decoded.status, decoded.message], [2, 2, 'status 502']);
  assert.deepEqual([decoded.start, decoded.end], [1795274527464123000n, 1795274527470500000n]);
  assert.equal(sent().parentSpanId, '');
  assert.equal(sent().status, 0);
});

test('a span does not end before it begins', () => {
  const { start, end } = sent({ end: 1 });
  assert.equal(end, start);
});

test('attributes of each type; none that is absent', () => {
  const attributes = {
    text: 'é\u{1f600}',
    whole: -7,
    large: 2 ** 53 - 1,
    fraction: 0.25,
    yes: true,
    no: false,
    list: ['a', ''],
    empty: '',
    absent: null,
    missing: undefined,
  };
  const { absent: _, missing: __, ...expected } = attributes;
  assert.deepEqual(sent({ attributes }).attributes, expected);
});

test('a text is cut, and is valid UTF-8 whatever it was', () => {
  const { attributes } = sent({
    attributes: { long: 'x'.repeat(5000), half: 'a\ud83d', zero: 'a\0b', wide: '\u{1f600}'.repeat(3000) },
  });
  assert.equal(String(attributes['long']).length, 4096);
  assert.equal(attributes['half'], 'a\ufffd');
  assert.equal(attributes['zero'], 'a\0b');
  assert.ok(String(attributes['wide']).isWellFormed());
});

test('the attributes of the configuration take the place of those of the resource', () => {
  const { resource: own } = sent();
  assert.equal(own['service.name'], 'edge');
  assert.equal(own['zone'], 'é');
  assert.equal(own['service.instance.id'], 'node');
});

test('nanoseconds are exact to a microsecond, from the epoch on', () => {
  for (const time of [0, 0.001, 1, 999.999, 1_795_274_527_464.123, 4_102_444_800_000.001, 8_000_000_000_000.5]) {
    const { low, high } = nanoseconds(time);
    const value = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
    assert.equal(value, BigInt(Math.round(time * 1000)) * 1000n, String(time));
  }
});

test('many spans are one message', () => {
  const spans = Array.from({ length: 500 }, (_, at) => encodeSpan({ ...span, name: `span ${at}` }));
  const decoded = decodeTraces(tracesRequest(resource, spans));
  assert.deepEqual(
    decoded.map(({ name }) => name),
    Array.from({ length: 500 }, (_, at) => `span ${at}`),
  );
});

test('a line of a log', () => {
  const line: LogLine = {
    time: 1_795_274_527_464.123,
    observed: 1_795_274_527_465,
    severity: 'warn',
    body: `{"a":"${'x'.repeat(10_000)}"}`,
    attributes: { status: 404 },
    traceId: span.traceId,
    spanId: '',
    sampled: true,
  };
  const [decoded] = decodeLogs(logsRequest(resource, [encodeLogLine(line)]));
  assert.deepEqual(decoded, {
    body: line.body,
    severity: 13,
    traceId: span.traceId,
    spanId: '',
    flags: 1,
    time: 1795274527464123000n,
    attributes: { status: 404 },
  });
});

test('numbers beyond what is exact are sent as fractions', () => {
  assert.deepEqual(keyValues({ a: 2 ** 60 }), [{ key: 'a', value: { doubleValue: 2 ** 60 } }]);
});

test('an entry of a queue holds as much memory as it has bytes', () => {
  const encoded = encodeSpan(span);
  assert.equal(encoded.buffer.byteLength, encoded.byteLength);
});
