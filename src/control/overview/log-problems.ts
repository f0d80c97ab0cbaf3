import type { LogFields } from '../../shared/logs/error-log.ts';
import type { LogLevel } from '../../shared/settings/settings.ts';

export const problemLevels = ['warn', 'error', 'crit', 'alert', 'emerg'] as const satisfies readonly LogLevel[];
export type ProblemLevel = (typeof problemLevels)[number];
export type ProblemCounts = Readonly<Record<ProblemLevel, number>>;

/** Lines of the error log with the same level and message. */
export interface LogProblem {
  readonly level: ProblemLevel;
  readonly message: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  /** Of the last line; names, ids and reasons only. */
  readonly fields: Readonly<Record<string, string | number>>;
}

/** Maximum messages; the one whose last line is oldest is evicted. */
const maxProblems = 20;
const maxText = 300;
const minute = 60_000;
const keptMinutes = 60;
/** What a line may be about, and why. Other fields stay in the log. */
const shownFields = [
  'plugin',
  'instance',
  'route',
  'service',
  'upstream',
  'target',
  'address',
  'check',
  'certificate',
  'host',
  'listener',
  'entity',
  'id',
  'name',
  'zone',
  'worker',
  'status',
  'limit',
  'suppressed',
  'reason',
  'error',
  'hint',
] as const;

interface Entry {
  readonly level: ProblemLevel;
  readonly message: string;
  count: number;
  readonly first: number;
  last: number;
  fields: LogProblem['fields'];
}

/** The last problems that the error logs of the node report, by message, and how many lines each level has. */
export class LogProblems {
  readonly #now: () => number;
  /** In the order of the last line. */
  readonly #problems = new Map<string, Entry>();
  readonly #total = noLines();
  /** By minute, the oldest first. */
  readonly #minutes = new Map<number, Record<ProblemLevel, number>>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(level: LogLevel, message: string, fields: LogFields): void {
    const problem = problemLevels.find((one) => one === level);
    if (problem === undefined) return;
    const now = this.#now();
    this.#total[problem]++;
    this.#minuteOf(now)[problem]++;
    const text = message.slice(0, maxText);
    const key = `${level} ${text}`;
    const about = shown(fields);
    const entry = this.#problems.get(key) ?? {
      ...{ level: problem, message: text, count: 0, first: now, last: now },
      fields: about,
    };
    this.#problems.delete(key);
    this.#problems.set(key, entry);
    entry.count++;
    entry.last = now;
    entry.fields = about;
    const oldest = this.#problems.keys().next();
    if (this.#problems.size > maxProblems && oldest.done !== true) this.#problems.delete(oldest.value);
  }

  /** Lines since the start. */
  get total(): ProblemCounts {
    return { ...this.#total };
  }

  /** Lines of the last hour. */
  get lastHour(): ProblemCounts {
    const since = this.#now() - keptMinutes * minute;
    const sums = noLines();
    for (const [begunAt, counts] of this.#minutes) {
      if (begunAt > since) for (const level of problemLevels) sums[level] += counts[level];
    }
    return sums;
  }

  /** The latest first. */
  list(): readonly LogProblem[] {
    return [...this.#problems.values()].reverse().map((entry) => ({ ...entry }));
  }

  #minuteOf(now: number): Record<ProblemLevel, number> {
    const begunAt = Math.floor(now / minute) * minute;
    let counts = this.#minutes.get(begunAt);
    if (counts === undefined) {
      counts = noLines();
      this.#minutes.set(begunAt, counts);
      const oldest = this.#minutes.keys().next();
      if (this.#minutes.size > keptMinutes && oldest.done !== true) this.#minutes.delete(oldest.value);
    }
    return counts;
  }
}

function noLines(): Record<ProblemLevel, number> {
  return { warn: 0, error: 0, crit: 0, alert: 0, emerg: 0 };
}

function shown(fields: LogFields): LogProblem['fields'] {
  const found: Record<string, string | number> = {};
  for (const name of shownFields) {
    const value = fields[name];
    if (typeof value === 'number') found[name] = value;
    else if (typeof value === 'string') found[name] = value.slice(0, maxText);
    else if (value instanceof Error) found[name] = value.message.slice(0, maxText);
  }
  const { err } = fields;
  if (err instanceof Error && found['error'] === undefined) found['error'] = err.message.slice(0, maxText);
  return found;
}
