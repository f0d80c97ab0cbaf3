import type { MetricsFormat } from './text-format.ts';

export const contentTypes: Readonly<Record<MetricsFormat, string>> = Object.freeze({
  // As Kong has it: no version, which stands for 0.0.4.
  prometheus: 'text/plain; charset=UTF-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
});

/** Ranges that are looked at: more than any client sends. */
const mostRanges = 32;

/**
 * Chooses the format by an `Accept` header (RFC 9110, 12.5.1). OpenMetrics only where it is named, in a version that is spoken, and liked
 * no less than plain text; in all other cases the text format of old, which everybody reads.
 */
export function metricsFormat(accept: string | null): MetricsFormat {
  if (accept === null) return 'prometheus';
  let [open, text, rank] = [0, 0, 0];
  for (const range of accept.split(',', mostRanges)) {
    const { type, version, quality } = parsed(range);
    if (type === 'application/openmetrics-text') {
      if (version === null || version === '1.0.0' || version === '0.0.1') open = Math.max(open, quality);
      continue;
    }
    // The most exact range says how much plain text is liked.
    const exactness = ['*/*', 'text/*', 'text/plain'].indexOf(type) + 1;
    if (exactness === 0 || exactness < rank) continue;
    text = exactness > rank ? quality : Math.max(text, quality);
    rank = exactness;
  }
  return open > 0 && open >= text ? 'openmetrics' : 'prometheus';
}

function parsed(range: string) {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  let version: string | null = null;
  let quality = 1;
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2);
    if (name.toLowerCase() === 'version') version = value.replaceAll('"', '');
    else if (name.toLowerCase() === 'q') quality = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(value) ? Number(value) : 0;
  }
  return { type: type.toLowerCase(), version, quality };
}
