import type { HistogramFamily, MetricFamily, ScalarFamily } from '../../plugin-sdk/metrics.ts';

/** `prometheus`: text format 0.0.4. `openmetrics`: OpenMetrics 1.0. */
export type MetricsFormat = 'prometheus' | 'openmetrics';

/** Approximate characters of a piece, which is generated without a check of the time. */
const pieceLength = 32_768;

/**
 * The text of all families, generated piece by piece on demand. Families are sorted by name. A family whose series cannot be read ends
 * early, and `failed` is called.
 */
export function* metricsText(
  families: readonly MetricFamily[],
  format: MetricsFormat,
  failed: (family: string, error: unknown) => void,
): Generator<string> {
  let text = '';
  for (const family of [...families].sort(byName)) {
    try {
      text += head(family, format);
      for (const lines of family.type === 'histogram' ? histogramLines(family) : scalarLines(family, format)) {
        text += lines;
        if (text.length < pieceLength) continue;
        yield text;
        text = '';
      }
    } catch (error) {
      failed(family.name, error);
    }
  }
  yield format === 'openmetrics' ? `${text}# EOF\n` : text;
}

function byName(one: MetricFamily, other: MetricFamily): number {
  return one.name < other.name ? -1 : 1;
}

function head(family: MetricFamily, format: MetricsFormat): string {
  const { name, help, type } = family;
  if (format === 'prometheus') return `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`;
  const shown = isTotal(family) ? name.slice(0, -total.length) : name;
  const unit = units.find((each) => shown.endsWith(`_${each}`));
  const unitLine = unit === undefined ? '' : `# UNIT ${shown} ${unit}\n`;
  return `# HELP ${shown} ${escaped(help)}\n# TYPE ${shown} ${openMetricsType(family)}\n${unitLine}`;
}

const total = '_total';
const units = ['bytes', 'seconds', 'ms', 'ratio'];

/**
 * In OpenMetrics a counter's samples end in `_total`. One that has another name in Kong keeps it, so that dashboards
 * find it; it then has no type.
 */
function openMetricsType(family: MetricFamily): string {
  return family.type === 'counter' && !isTotal(family) ? 'unknown' : family.type;
}

function isTotal({ name, type }: MetricFamily): boolean {
  return type === 'counter' && name.endsWith(total);
}

function* scalarLines({ name, labelNames, series }: ScalarFamily, _format: MetricsFormat): Generator<string> {
  for (const { labels, value } of series) {
    const set = labelSet(labelNames, labels);
    yield set === '' ? `${name} ${number(value)}\n` : `${name}{${set}} ${number(value)}\n`;
  }
}

function* histogramLines({ name, labelNames, bounds, series }: HistogramFamily): Generator<string> {
  const ends = [...bounds.map((bound) => `le="${number(bound)}"} `), 'le="+Inf"} '];
  for (const { labels, counts, sum } of series) {
    const set = labelSet(labelNames, labels);
    const bucket = set === '' ? `${name}_bucket{` : `${name}_bucket{${set},`;
    const plain = set === '' ? ' ' : `{${set}} `;
    let lines = '';
    let count = 0;
    for (let at = 0; at < ends.length; at++) {
      count += counts[at] ?? 0;
      lines += `${bucket}${ends[at]}${number(count)}\n`;
    }
    yield `${lines}${name}_count${plain}${number(count)}\n${name}_sum${plain}${number(sum)}\n`;
  }
}

/** Without the braces. */
function labelSet(names: readonly string[], values: readonly string[]): string {
  let set = '';
  for (let at = 0; at < names.length; at++) {
    if (at > 0) set += ',';
    set += `${names[at]}="${escaped(values[at] ?? '')}"`;
  }
  return set;
}

const special = /[\\"\n]/g;
// A lone surrogate is not valid in UTF-8.
const suspicious = /[\\"\n\ud800-\udfff]/;

function escaped(text: string): string {
  if (!suspicious.test(text)) return text;
  return text.toWellFormed().replace(special, (found) => (found === '\n' ? '\\n' : `\\${found}`));
}

/** A quotation mark is not escaped in a help text of format 0.0.4. */
function escapedHelp(text: string): string {
  return text.toWellFormed().replace(/[\\\n]/g, (found) => (found === '\n' ? '\\n' : '\\\\'));
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
