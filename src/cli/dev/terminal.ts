import type { CodeProblem } from '../../shared/development/code-problem.ts';
import type { TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import { painted, piece } from '../explain/layout.ts';
import { type LogLine, logLines, problemLines, type Reloaded, reloadedLine, requestLine, timeOf } from './dev-lines.ts';

export interface TerminalOptions {
  readonly out: (line: string) => void;
  readonly colours: boolean;
}

/** Lines of requests and logs in one second; the others are counted. */
const maxLines = 60;
const period = 1000;

/** What `sluicegate dev` prints. A client that sends thousands of requests cannot flood it. */
export class Terminal {
  readonly #out: (line: string) => void;
  readonly #colours: boolean;
  #begun = 0;
  #lines = 0;
  #left = 0;
  #summary: NodeJS.Timeout | undefined;
  #lastProblem = '';
  #lastProblemAt = 0;
  #repeats = 0;

  constructor({ out, colours }: TerminalOptions) {
    this.#out = out;
    this.#colours = colours;
  }

  line(text: string): void {
    this.#out(text);
  }

  /** A line with the time: something has happened. */
  note(text: string): void {
    this.#out(`${this.#time()}  ${painted(piece(text), this.#colours)}`);
  }

  /** The same for something good. */
  success(text: string): void {
    this.#out(`${this.#time()}  ${painted(piece(text, 'good'), this.#colours)}`);
  }

  reloaded(reloaded: Reloaded): void {
    this.#lastProblem = '';
    this.#out(reloadedLine(reloaded, new Date(), this.#colours));
  }

  /** A problem that occurs again at once is counted. */
  problem(problem: CodeProblem, stack: readonly string[] = []): void {
    const key = `${problem.plugin}\n${problem.title}\n${problem.message}\n${problem.place}`;
    const now = performance.now();
    if (key === this.#lastProblem && now - this.#lastProblemAt < period) {
      this.#repeats++;
      this.#summarizeLater();
      return;
    }
    this.#lastProblem = key;
    this.#lastProblemAt = now;
    for (const line of problemLines(problem, stack, new Date(), this.#colours)) this.#out(line);
  }

  request(entry: TrafficEntry): void {
    if (this.#admits()) this.#out(requestLine(entry, this.#colours));
  }

  /** Requests that were not recorded. */
  requestsLeft(count: number): void {
    this.#left += count;
    this.#summarizeLater();
  }

  log(line: LogLine): void {
    if (this.#admits()) for (const text of logLines(line, new Date(), this.#colours)) this.#out(text);
  }

  close(): void {
    clearTimeout(this.#summary);
  }

  #admits(): boolean {
    const now = performance.now();
    if (now - this.#begun >= period) {
      this.#begun = now;
      this.#lines = 0;
    }
    if (++this.#lines <= maxLines) return true;
    this.#left++;
    this.#summarizeLater();
    return false;
  }

  #summarizeLater(): void {
    this.#summary ??= setTimeout(() => {
      this.#summary = undefined;
      if (this.#repeats > 0) this.note(`the same problem ${this.#repeats} more times`);
      if (this.#left > 0) this.note(`${this.#left} more requests and log lines are not shown`);
      this.#repeats = 0;
      this.#left = 0;
    }, period).unref();
  }

  #time(): string {
    return painted(piece(timeOf(new Date()), 'dim'), this.#colours);
  }
}
