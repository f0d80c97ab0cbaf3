import type { Figure } from './figures/figures.ts';
import type { Tools } from './machine/tools.ts';
import type { Subject } from './subject.ts';

/** What every scenario gets. */
export interface BenchContext {
  readonly tools: Tools;
  /** Temporary; removed at the end. */
  readonly folder: string;
  /** Seconds of load in one round, and how many rounds. */
  readonly seconds: number;
  readonly rounds: number;
  readonly backend: Subject;
  /** nginx that sets the headers that a gateway sets. */
  readonly peer: Subject;
  /** nginx that sets two headers and generates nothing. */
  readonly barePeer: Subject;
  /** HAProxy that sets the headers that a gateway sets. */
  readonly haproxy: Subject;
  say(text: string): void;
}

export interface Scenario {
  readonly name: string;
  run(context: BenchContext): Promise<readonly Figure[]>;
}
