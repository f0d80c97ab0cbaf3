import type { CodeProblem } from '../../shared/development/code-problem.ts';
import type { DevelopmentBoot } from '../../shared/development/development-boot.ts';
import type { LogReceiver } from '../../shared/logs/log-receiver.ts';

/** What `sluicegate dev` gives a node. */
export interface DevelopmentOptions {
  /** The working directory, from which paths are shown. */
  readonly root: string;
  /** Clients may see source code: every proxy listener is on a loopback address. */
  readonly details: boolean;
  /** Receives each line of the error logs. */
  readonly log: LogReceiver;
}

/** The problems that the workers show; each worker that starts receives `boot` as it is then. */
export class ShownProblems {
  readonly boot: DevelopmentBoot;
  readonly #problems: CodeProblem[] = [];

  constructor({ root, details }: DevelopmentOptions) {
    this.boot = { root, details, problems: this.#problems };
  }

  set(problems: readonly CodeProblem[]): void {
    this.#problems.splice(0, Number.POSITIVE_INFINITY, ...problems);
  }
}
