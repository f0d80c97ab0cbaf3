import { type HeaderFormat, onlyValue, type RemoteTrace } from './formats.ts';

/*
 * AWS X-Ray: `X-Amzn-Trace-Id: Root=1-{8}-{24};Parent={16};Sampled={0|1}`, in any order, with other fields between them.
 */

const rootForm = /^1-([0-9a-f]{8})-([0-9a-f]{24})$/i;
const spanForm = /^[0-9a-f]{16}$/i;
const zero = /^0+$/;
const maxLength = 1024;

export const aws: HeaderFormat = {
  read(request): RemoteTrace | null {
    const value = onlyValue(request, 'x-amzn-trace-id');
    if (value === '' || value.length > maxLength) return null;
    let traceId = '';
    let spanId = '';
    let sampled: boolean | null = null;
    for (const field of value.split(';')) {
      const at = field.indexOf('=');
      const name = field.slice(0, Math.max(at, 0)).trim().toLowerCase();
      const text = field.slice(at + 1).trim();
      if (name === 'root') {
        const root = rootForm.exec(text);
        // Two roots are ambiguous.
        if (root === null || traceId !== '') return null;
        traceId = `${root[1]}${root[2]}`.toLowerCase();
      } else if (name === 'parent' && spanForm.test(text) && !zero.test(text)) spanId = text.toLowerCase();
      else if (name === 'sampled' && (text === '0' || text === '1')) sampled = text === '1';
    }
    if (traceId === '' || zero.test(traceId)) return null;
    return { format: 'aws', traceId, short: false, spanId, sampled, debug: false, state: '' };
  },
  write({ traceId, spanId, sampled }, upstream) {
    const root = `1-${traceId.slice(0, 8)}-${traceId.slice(8)}`;
    upstream.setHeader('x-amzn-trace-id', `Root=${root};Parent=${spanId};Sampled=${sampled ? '1' : '0'}`);
  },
};
