import type { CodeProblem } from './code-problem.ts';

/** What a worker of `sluicegate dev` receives. No setting leads to it: a gateway in production has none. */
export interface DevelopmentBoot {
  /** The working directory, from which paths are shown. */
  readonly root: string;
  /** Clients may see source code: every proxy listener is on a loopback address. */
  readonly details: boolean;
  /** The plugins whose newest code cannot be used. */
  readonly problems: readonly CodeProblem[];
}
