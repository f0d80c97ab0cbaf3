import type { RequestView } from '../../../plugin-sdk/request-views.ts';
import {
  decimalOf,
  type HeaderFormat,
  low64Bits,
  type OutgoingTrace,
  onlyValue,
  type RemoteTrace,
  spanOfDecimal,
} from './formats.ts';

/*
 * Datadog: `x-datadog-trace-id` and `x-datadog-parent-id` are decimal numbers of 64 bits; the upper half of an id of 128 bits
 * is the tag `_dd.p.tid`. `x-datadog-origin` is forwarded as any other header.
 */

const upperTag = '_dd.p.tid';
const upperForm = /^[0-9a-f]{16}$/i;
const noUpper = '0'.repeat(16);
/** Tracers of Datadog drop longer tags. */
const maxTags = 512;

export const datadog: HeaderFormat = {
  read(request): RemoteTrace | null {
    const lower = spanOfDecimal(onlyValue(request, 'x-datadog-trace-id'));
    const priority = priorityOf(onlyValue(request, 'x-datadog-sampling-priority'));
    if (lower === '' && priority === null) return null;
    const tags = lower === '' ? '' : tagsOf(request);
    const upper = upperOf(tags);
    return {
      format: 'datadog',
      traceId: lower === '' ? '' : upper + lower,
      short: upper === noUpper,
      spanId: lower === '' ? '' : spanOfDecimal(onlyValue(request, 'x-datadog-parent-id')),
      sampled: priority === null ? null : priority > 0,
      debug: priority === 2,
      state: tags,
    };
  },
  write(trace, upstream) {
    upstream.setHeader('x-datadog-trace-id', decimalOf(low64Bits(trace.traceId)));
    upstream.setHeader('x-datadog-parent-id', decimalOf(trace.spanId));
    const debug = trace.remote?.format === 'datadog' && trace.remote.debug;
    upstream.setHeader('x-datadog-sampling-priority', trace.sampled ? (debug ? '2' : '1') : '0');
    const tags = writtenTags(trace);
    if (tags === '') upstream.removeHeader('x-datadog-tags');
    else upstream.setHeader('x-datadog-tags', tags);
  },
};

/** -1 and 0: not kept; 1 and 2: kept. */
function priorityOf(value: string): number | null {
  return /^(?:-1|[012])$/.test(value) ? Number(value) : null;
}

function tagsOf(request: RequestView): string {
  const tags = onlyValue(request, 'x-datadog-tags');
  return tags.length <= maxTags ? tags : '';
}

function upperOf(tags: string): string {
  for (const tag of tags.split(',')) {
    const [name, value = ''] = tag.split('=', 2);
    if (name?.trim() === upperTag && upperForm.test(value)) return value.toLowerCase();
  }
  return noUpper;
}

function writtenTags({ traceId, short, remote }: OutgoingTrace): string {
  const upper = traceId.slice(0, 16);
  const kept = (remote?.format === 'datadog' ? remote.state.split(',') : []).filter(
    (tag) => tag !== '' && tag.split('=', 1)[0]?.trim() !== upperTag,
  );
  return (short || upper === noUpper ? kept : [...kept, `${upperTag}=${upper}`]).join(',');
}
