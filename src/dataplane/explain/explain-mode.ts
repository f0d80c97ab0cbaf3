/** What a request with the debug token asks for. */
export interface ExplainMode {
  /** The answer is an explanation. */
  readonly explain: boolean;
  /** No backend is contacted. */
  readonly dry: boolean;
  /** The request is served as if it were of this method. An answer to HEAD has no place for an explanation. */
  readonly method: 'HEAD' | null;
}

export const notExplained: ExplainMode = Object.freeze({ explain: false, dry: false, method: null });

/** Reads `X-Sluicegate-Explain`: `1` or `dry`, then perhaps `; method=HEAD`. Anything else, or several, ask for nothing. */
export function explainMode(values: readonly string[]): ExplainMode {
  const [value, second] = values;
  const parts = value === undefined || second !== undefined ? null : /^(1|dry)(?:\s*;\s*method=(HEAD))?$/i.exec(value);
  if (parts === null) return notExplained;
  return { explain: true, dry: parts[1]?.toLowerCase() === 'dry', method: parts[2] === undefined ? null : 'HEAD' };
}
