import { monotonic } from '../../../shared/util/time/clock.ts';
import { milliseconds } from '../../answer/server-timing.ts';
import type { Explained } from '../explained.ts';
import { phaseNames } from './plugins-part.ts';

interface Moment {
  /** Milliseconds from the start of the request. */
  readonly at: number;
  /** Its duration; null: it had not ended. */
  readonly ms: number | null;
  readonly what: string;
}

/** What happened when, in order. */
export function timelinePart({ x, recorder, answer }: Explained): readonly Moment[] {
  const { spans, calls } = recorder;
  const moments: Moment[] = spans.map(({ kind, name, start, end, facts }, at) => {
    const call = calls.get(at);
    const what =
      kind === 'plugin'
        ? `plugin ${name} ${phaseName(facts['phase'])}`
        : kind === 'dns'
          ? dnsText(name, facts['reason'])
          : kind;
    return {
      at: milliseconds(start - x.startedAt),
      ms: end === 0 ? null : milliseconds(end - start),
      what: call === undefined ? what : `${what} (called by ${call})`,
    };
  });
  if (x.firstByteMono > 0) moments.push(point(x.firstByteMono - x.startedMono, 'first byte of the answer'));
  if (answer !== null && answer.head !== null) moments.push(point(answer.head, 'head of the answer to the client'));
  moments.push(point(monotonic() - x.startedMono, 'end'));
  return moments.sort((a, b) => a.at - b.at);
}

function dnsText(name: string, reason: unknown): string {
  return reason === undefined ? `dns ${name}` : `dns ${name}: ${reason}`;
}

function phaseName(phase: unknown): string {
  return phaseNames[String(phase)] ?? String(phase);
}

function point(at: number, what: string): Moment {
  return { at: milliseconds(at), ms: 0, what };
}
