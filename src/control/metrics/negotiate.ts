import type { MetricsFormat } from './text-format.ts';

export const contentTypes: Readonly<Record<MetricsFormat, string>> = Object.freeze({
  // As in Kong: no version, which means 0.0.4.
  prometheus: 'text/plain; charset=UTF-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
});

/** Maximum ranges that are evaluated; no client sends more. */
const maxRanges = 32;

/**
 * Chooses the format by an `Accept` header (RFC 9110, 12.5.1). OpenMetrics only where it is named, in a supported version, and with
 * at least the weight of plain text; in all other cases the text format 0.0.4, which every client supports.
 */
export function metricsFormat(accept: string | null): MetricsFormat {
  if (accept === null) return 'prometheus';
  let [open, text, rank] = [0, 0, 0];
  for (const range of accept.split(',', maxRanges)) {
    const { type, version, quality } = parsed(range);
    if (type === 'application/openmetrics-text') {
      if (version === null || version === '1.0.0' || version === '0.0.1') open = Math.max(open, quality);
      continue;
    }
    // The most specific range has the weight of plain text.
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
