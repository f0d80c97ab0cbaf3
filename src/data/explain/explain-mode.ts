/** What a request with the debug token requests. */
export interface ExplainMode {
  /** The response is an explanation. */
  readonly explain: boolean;
  /** No backend is contacted. */
  readonly dry: boolean;
  /** The request is served as if it had this method. A response to HEAD has no body for an explanation. */
  readonly method: 'HEAD' | null;
}

export const notExplained: ExplainMode = Object.freeze({ explain: false, dry: false, method: null });

/**
 * Parses `X-Sluicegate-Explain`: `1` or `dry`, then optionally `; method=HEAD`. Anything else, or several values,
 * request nothing.
 */
export function explainMode(values: readonly string[]): ExplainMode {
  const [value, second] = values;
  const parts = value === undefined || second !== undefined ? null : /^(1|dry)(?:\s*;\s*method=(HEAD))?$/i.exec(value);
  if (parts === null) return notExplained;
  return { explain: true, dry: parts[1]?.toLowerCase() === 'dry', method: parts[2] === undefined ? null : 'HEAD' };
}
