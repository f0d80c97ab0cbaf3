/** One test of the suite. `required`, which is the default: a failure breaks the specification. */
export interface SuiteTest {
  readonly id: string;
  readonly name: string;
  readonly kind?: 'required' | 'optimal' | 'check';
  readonly depends_on?: readonly string[];
  readonly browser_only?: boolean;
}

export interface TestSuite {
  readonly id: string;
  readonly name: string;
  readonly tests: readonly SuiteTest[];
}

/** True, or the kind of failure and its message. */
export type RawResult = true | readonly [kind: string, message: string];
