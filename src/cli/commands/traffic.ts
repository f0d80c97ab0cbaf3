import type { TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import { findAdmin } from '../admin-api/find-admin.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { printableJson } from '../explain/layout.ts';
import { readEvents } from '../traffic/read-events.ts';
import { trafficLine } from '../traffic/traffic-line.ts';

/** Milliseconds until the stream begins. */
const timeout = 10_000;
/** Milliseconds between two lines that say that requests were left out. */
const noticeInterval = 10_000;
const filters = ['route', 'service', 'consumer', 'status', 'method', 'path', 'client'] as const;

/** `traffic`: prints requests as they end, until the stream ends or `--count` is reached. */
export async function traffic(context: CommandContext): Promise<number> {
  const { options, positionals } = context.arguments;
  if (positionals.length > 0) throw new CliError(`unexpected argument '${positionals[0]}' (filters are options)`);
  const count = countOf(options['count']);
  const notice = new SampleNotice(context.err);
  let printed = 0;
  for await (const { event, data } of readEvents(
    findAdmin(context).stream(`/traffic/live${queryOf(context)}`, timeout),
  )) {
    const value: unknown = JSON.parse(data);
    if (event === 'end') throw new CliError(`the Admin API ended the stream: ${(value as { reason: string }).reason}`);
    if (event === 'rate') notice.note(value as Rate);
    if (event === 'dropped') notice.missed((value as Missed).events);
    if (event !== 'request') continue;
    context.out(
      options['json'] === true ? printableJson(value, 0) : trafficLine(value as TrafficEntry, context.colours),
    );
    if (++printed === count) return 0;
  }
  throw new CliError('the stream of the Admin API broke off');
}

function countOf(text: string | true | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (typeof text !== 'string' || !/^[1-9]\d{0,8}$/.test(text)) throw new CliError('--count must be a number from 1');
  return Number(text);
}

function queryOf({ arguments: { options, lists } }: CommandContext): string {
  const query = new URLSearchParams();
  for (const name of filters) for (const value of lists[name] ?? []) query.append(name, value);
  const duration = options['min-duration'];
  if (typeof duration === 'string') query.set('min_duration', duration);
  return query.size === 0 ? '' : `?${query}`;
}

interface Missed {
  readonly events: number;
}

interface Rate {
  readonly seen: number;
  readonly sampled: number;
  readonly dropped: number;
}

/** Says that not every request is shown, from time to time. */
class SampleNotice {
  readonly #err: (line: string) => void;
  #next = 0;

  constructor(err: (line: string) => void) {
    this.#err = err;
  }

  note({ seen, sampled, dropped }: Rate): void {
    const now = performance.now();
    if ((seen <= sampled && dropped === 0) || now < this.#next) return;
    this.#next = now + noticeInterval;
    const lost = dropped === 0 ? '' : `; ${dropped} records were lost`;
    this.#err(`a sample: ${sampled} of the last second's ${seen} requests were recorded${lost}`);
  }

  missed(events: number): void {
    this.#err(`${events} events were not received, because this command reads too slowly`);
  }
}
