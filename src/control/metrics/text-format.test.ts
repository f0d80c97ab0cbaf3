import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistogramFamily, MetricFamily } from '../../plugin-sdk/metrics.ts';
import { counter, gauge } from './families.ts';
import { type MetricsFormat, metricsText } from './text-format.ts';

function text(families: readonly MetricFamily[], format: MetricsFormat = 'prometheus'): string {
  return [...metricsText(families, format, (name, error) => assert.fail(`${name}: ${error}`))].join('');
}

const times: HistogramFamily = {
  name: 'x_latency_ms',
  help: 'Times',
  type: 'histogram',
  labelNames: ['service', 'route'],
  bounds: [1, 2.5, 1000],
  series: [
    { labels: ['s', 'r'], counts: [4, 0, 2, 1], sum: 3210.5 },
    { labels: ['', 'q'], counts: new Float64Array(4), sum: 0 },
  ],
};

test('families are sorted by name, each with its help and type once', () => {
  const families = [
    gauge('b', 'Second', [], [[2]]),
    counter(
      'a_total',
      'First',
      ['x'],
      [
        ['1', 1],
        ['2', 5e-7],
      ],
    ),
  ];
  assert.equal(
    text(families),
    '# HELP a_total First\n# TYPE a_total counter\na_total{x="1"} 1\na_total{x="2"} 5e-7\n# HELP b Second\n# TYPE b gauge\nb 2\n',
  );
});

test('buckets of a histogram are summed up, with the infinite one, the count and the sum last', () => {
  assert.equal(
    text([times]),
    [
      '# HELP x_latency_ms Times',
      '# TYPE x_latency_ms histogram',
      'x_latency_ms_bucket{service="s",route="r",le="1"} 4',
      'x_latency_ms_bucket{service="s",route="r",le="2.5"} 4',
      'x_latency_ms_bucket{service="s",route="r",le="1000"} 6',
      'x_latency_ms_bucket{service="s",route="r",le="+Inf"} 7',
      'x_latency_ms_count{service="s",route="r"} 7',
      'x_latency_ms_sum{service="s",route="r"} 3210.5',
      'x_latency_ms_bucket{service="",route="q",le="1"} 0',
      'x_latency_ms_bucket{service="",route="q",le="2.5"} 0',
      'x_latency_ms_bucket{service="",route="q",le="1000"} 0',
      'x_latency_ms_bucket{service="",route="q",le="+Inf"} 0',
      'x_latency_ms_count{service="",route="q"} 0',
      'x_latency_ms_sum{service="",route="q"} 0',
      '',
    ].join('\n'),
  );
});

test('a histogram without labels', () => {
  const plain = { ...times, labelNames: [], bounds: [], series: [{ labels: [], counts: [3], sum: 2 }] };
  assert.match(text([plain]), /\nx_latency_ms_bucket\{le="\+Inf"\} 3\nx_latency_ms_count 3\nx_latency_ms_sum 2\n$/);
});

test('labels and help are escaped: no line can be forged', () => {
  const nasty = 'a\\b"c\nd{} 1\n# EOF\r\u0000\u2028\ud800x';
  const page = text([gauge('g', nasty, ['l'], [[nasty, Number.NaN]])]);
  const shown = 'a\\\\b"c\\nd{} 1\\n# EOF\r\u0000\u2028\ufffdx';
  assert.equal(page, `# HELP g ${shown}\n# TYPE g gauge\ng{l="${shown.replace('"', '\\"')}"} NaN\n`);
  const open = text([gauge('g', nasty, ['l'], [[nasty, Number.NEGATIVE_INFINITY]])], 'openmetrics');
  assert.equal(open.split('\n').length, 5);
  assert.match(open, /^# HELP g a\\\\b\\"c\\nd/);
  assert.match(open, /"\} -Inf\n# EOF\n$/);
});

test('OpenMetrics: totals, units, the end', () => {
  const families = [
    counter('a_seconds_total', 'A', [], [[1]]),
    counter('k_bytes', 'K', ['d'], [['in', 2]]),
    gauge('n_total', 'N', [], [[3]]),
    times,
  ];
  const lines = text(families, 'openmetrics').split('\n');
  assert.deepEqual(lines.slice(0, 10), [
    '# HELP a_seconds A',
    '# TYPE a_seconds counter',
    '# UNIT a_seconds seconds',
    'a_seconds_total 1',
    '# HELP k_bytes K',
    // A counter must be called `_total`; the name that clients look for goes before the type.
    '# TYPE k_bytes unknown',
    '# UNIT k_bytes bytes',
    'k_bytes{d="in"} 2',
    '# HELP n_total N',
    '# TYPE n_total gauge',
  ]);
  assert.ok(lines.includes('# UNIT x_latency_ms ms'));
  assert.ok(lines.includes('x_latency_ms_bucket{service="s",route="r",le="1"} 4'));
  assert.deepEqual(lines.slice(-2), ['# EOF', '']);
  assert.equal(text([], 'openmetrics'), '# EOF\n');
});

test('a family that cannot be read ends early, and the others are complete', () => {
  const failures: string[] = [];
  const broken: MetricFamily = {
    ...gauge('b', 'B', [], []),
    series: (function* () {
      yield { labels: [], value: 1 };
      throw new Error('gone');
    })(),
  };
  const families = [gauge('a', 'A', [], [[1]]), broken, gauge('c', 'C', [], [[1]])];
  const page = [...metricsText(families, 'openmetrics', (name) => failures.push(name))].join('');
  assert.match(page, /\na 1\n.*\nb 1\n.*\nc 1\n# EOF\n$/s);
  assert.deepEqual(failures, ['b']);
});

test('a large page is generated in pieces, on demand', () => {
  let made = 0;
  const series = {
    *[Symbol.iterator]() {
      for (; made < 100_000; made++) yield { labels: [`value ${made}`], value: made };
    },
  };
  const pieces = metricsText([{ ...gauge('g', 'G', ['l'], []), series }], 'prometheus', () => assert.fail());
  const first = pieces.next().value as string;
  assert.ok(first.length < 40_000 && made < 3000);
  let length = first.length;
  for (const piece of pieces) {
    assert.ok(piece.length < 40_000);
    length += piece.length;
  }
  assert.ok(length > 2_000_000);
});
