/** One thing that is wrong with a config. */
export interface ConfigErrorProblem {
  /** `services[0].routes[1].paths`; '' for the config itself. */
  readonly path: string;
  readonly message: string;
}

/** The config was not used: something in it is invalid. The message has a line for each problem. */
export class GatewayConfigError extends Error {
  readonly problems: readonly ConfigErrorProblem[];

  constructor(problems: readonly ConfigErrorProblem[]) {
    const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    super(
      lines.length === 1 ? `the config is invalid: ${lines[0]}` : ['the config is invalid:', ...lines].join('\n  '),
    );
    this.name = 'GatewayConfigError';
    this.problems = problems;
  }
}
