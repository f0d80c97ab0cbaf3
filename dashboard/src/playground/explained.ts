/** The answer of `POST /explain`; docs/explain.md describes it. */
export interface ExplainedAnswer {
  readonly status: number | null;
  readonly headers: HeaderValues;
  readonly body: {
    readonly text?: string;
    readonly base64?: string;
    readonly truncated: boolean;
  } | null;
  readonly explanation: Explanation | null;
  /** Why there is no answer to a request that was sent. */
  readonly problem: string | null;
}

export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

export interface Explanation {
  readonly summary: string;
  readonly note: string;
  readonly why: {
    readonly sentence: string;
    readonly cause: { readonly entity: string | null; readonly id: string | null; readonly name: string | null } | null;
  } | null;
  readonly request: { readonly client: { readonly ip: string; readonly because: string } };
  readonly router: {
    readonly matched: { readonly id: string; readonly name: string | null } | null;
  } | null;
  readonly service: { readonly id: string; readonly name: string | null } | null;
  readonly consumer: { readonly id: string | null; readonly username: string | null } | null;
  readonly plugins: readonly {
    readonly id: string;
    readonly name: string;
    readonly scope: readonly string[];
    readonly because?: string;
    readonly phases: readonly {
      readonly phase: string;
      readonly ms: number | null;
      readonly decided: string;
      readonly changed: readonly string[];
    }[];
  }[];
  readonly attempts: readonly Readonly<Record<string, unknown>>[];
  readonly answer: { readonly by: string; readonly who: string | null; readonly body_bytes: number };
  readonly timeline: readonly Readonly<Record<string, unknown>>[];
}
