import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsFormat } from './negotiate.ts';

const cases: readonly (readonly [accept: string | null, format: 'prometheus' | 'openmetrics', what: string])[] = [
  [null, 'prometheus', 'no header'],
  ['*/*', 'prometheus', 'curl'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'prometheus', 'a browser'],
  [
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    'openmetrics',
    'Prometheus 2.42',
  ],
  [
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
    'openmetrics',
    'Prometheus 3',
  ],
  ['text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.5', 'prometheus', 'plain text has more weight'],
  ['application/openmetrics-text;q=0.5,*/*', 'prometheus', 'any type has more weight'],
  ['application/openmetrics-text;q=0.5,text/plain;q=0.2,*/*', 'openmetrics', 'the exact range counts for plain text'],
  ['application/openmetrics-text;q=0', 'prometheus', 'refused'],
  ['application/openmetrics-text; version=2.0.0', 'prometheus', 'an unsupported version'],
  ['APPLICATION/OpenMetrics-Text ; Version="1.0.0"', 'openmetrics', 'any case, quoted'],
  ['application/openmetrics-text;q=nonsense', 'prometheus', 'a broken weight'],
  [`${'a/b,'.repeat(1000)}application/openmetrics-text`, 'prometheus', 'a flood'],
  [';;;,,,=', 'prometheus', 'nonsense'],
];

for (const [accept, format, what] of cases) {
  test(`Accept: ${what}`, () => assert.equal(metricsFormat(accept), format));
}
