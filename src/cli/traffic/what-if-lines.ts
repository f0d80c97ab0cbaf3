import type { Comparison, ShownOutcome } from '../../control/what-if/compare-outcomes.ts';
import { type Look, painted, piece } from '../explain/layout.ts';

/** The answer of `POST /what-if`. */
export interface ShownWhatIf extends Omit<Comparison, 'replayed'> {
  readonly requests: {
    readonly kept: number;
    readonly replayed: number;
    readonly undecided: number;
    readonly from: string | null;
    readonly to: string | null;
  };
  readonly note: string | null;
}

/** The report as lines for a terminal. What clients sent cannot control it. */
export function whatIfLines(report: ShownWhatIf, colours: boolean): readonly string[] {
  const { requests, refused, admitted, rerouted, changed, groups, undecided, note } = report;
  const say = (text: string, look: Look): string => painted(piece(text, look), colours);
  if (requests.kept === 0) return [say(note ?? 'no request was recorded', 'warning')];
  const { replayed, from, to } = requests;
  const lines = [
    `${replayed} requests from ${clock(from)} to ${clock(to)}`,
    say(
      `${refused} refused, ${admitted} admitted, ${rerouted} rerouted, ${changed} changed, ${requests.undecided} undecided`,
      refused > 0 ? 'bad' : 'strong',
    ),
  ];
  const width = Math.max(...[...groups, ...undecided].map(({ count }) => String(count).length), 1) + 2;
  for (const { before, after, count, examples } of groups) {
    const reason = after.reason === null ? '' : `: ${after.reason}`;
    lines.push(say(`${String(count).padStart(width)}  ${outcome(before)} -> ${outcome(after)}${reason}`, 'plain'));
    lines.push(say(`${' '.repeat(width)}  ${examples.join(' ')}`, 'dim'));
  }
  for (const { reason, plugin, count } of undecided) {
    const who = plugin === null ? '' : `${plugin}: `;
    lines.push(say(`${String(count).padStart(width)}  undecided: ${who}${reason}`, 'warning'));
  }
  if (note !== null) lines.push(say(note, 'warning'));
  return lines;
}

function clock(time: string | null): string {
  return time === null ? '-' : time.slice(11, 19);
}

function outcome({ status, by, who, route }: ShownOutcome): string {
  const place = route === null ? 'no route' : (route.name ?? route.id);
  return `${status ?? 'unknown'} ${by === 'plugin' ? who : by} (${place})`;
}
