import { decimalOf, type HeaderFormat, onlyValue, type RemoteTrace, spanOfDecimal } from './formats.ts';

/*
 * Google Cloud: `X-Cloud-Trace-Context: {trace}[/{decimal span}][;o={0|1}]`.
 */

const form = /^([0-9a-f]{32})(?:\/(\d{1,20}))?(?:;o=([01]))?$/i;
const zero = /^0+$/;

export const gcp: HeaderFormat = {
  read(request): RemoteTrace | null {
    const found = form.exec(onlyValue(request, 'x-cloud-trace-context'));
    if (found === null) return null;
    const [, traceId = '', span, option] = found;
    if (zero.test(traceId)) return null;
    return {
      format: 'gcp',
      traceId: traceId.toLowerCase(),
      short: false,
      // 0 means none.
      spanId: span === undefined ? '' : spanOfDecimal(span),
      sampled: option === undefined ? null : option === '1',
      debug: false,
      state: '',
    };
  },
  write({ traceId, spanId, sampled }, upstream) {
    upstream.setHeader('x-cloud-trace-context', `${traceId}/${decimalOf(spanId)};o=${sampled ? '1' : '0'}`);
  },
};
