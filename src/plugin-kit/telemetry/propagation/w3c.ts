import { type HeaderFormat, type OutgoingTrace, onlyValue } from './formats.ts';

/*
 * W3C Trace Context: `traceparent` and `tracestate`.
 */

// Versions after 00 may have more behind the flags (section 4 of the recommendation); ff is invalid.
const traceparent = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** Maximum characters and members of a forwarded `tracestate`: the recommendation requires at least 512 characters, and at most 32 members. */
const maxStateLength = 4096;
const maxMembers = 32;
/** Maximum members that are parsed, empty ones included: a client may send thousands. */
const maxRead = 4 * maxMembers;
/** Members longer than this are dropped first. */
const longMember = 128;
const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

export const w3c: HeaderFormat = {
  read(request) {
    const found = traceparent.exec(onlyValue(request, 'traceparent'));
    if (found === null) return null;
    const [, version = '', traceId = '', spanId = '', flags = '', more] = found;
    if (traceId === noTrace || spanId === noSpan || (version === '00' && more !== undefined)) return null;
    return {
      format: 'w3c',
      traceId,
      short: false,
      spanId,
      sampled: (Number.parseInt(flags, 16) & 1) === 1,
      debug: false,
      state: passedState(request.headerValues('tracestate')),
    };
  },
  write(trace, upstream) {
    upstream.setHeader('traceparent', traceparentOf(trace));
    const state = trace.remote?.format === 'w3c' ? trace.remote.state : '';
    // That of a trace that is not continued would belong to another one.
    if (state === '') upstream.removeHeader('tracestate');
    else upstream.setHeader('tracestate', state);
  },
};

export function traceparentOf({ traceId, spanId, sampled }: OutgoingTrace): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** The lines as one list; '' when one of the parsed members is malformed. */
function passedState(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const members = lines
    .join(',')
    .split(',', maxRead)
    .map((text) => text.trim())
    .filter((text) => text !== '');
  if (members.some((text) => !member.test(text))) return '';
  return shortened(members).join(',');
}

function shortened(members: readonly string[]): readonly string[] {
  const length = members.reduce((sum, text) => sum + text.length + 1, -1);
  if (length <= maxStateLength && members.length <= maxMembers) return members;
  const kept: string[] = [];
  let room = maxStateLength;
  for (const text of members) {
    if (text.length > longMember) continue;
    if (kept.length === maxMembers || text.length > room) break;
    kept.push(text);
    room -= text.length + 1;
  }
  return kept;
}
