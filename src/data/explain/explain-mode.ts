/** What a request with the debug token requests. */
export interface ExplainMode {
  /** The response is an explanation. */
  readonly explain: boolean;
  /** No backend is contacted. */
  readonly dry: boolean;
  /** The request is served as if it had this method. A response to HEAD has no body for an explanation. */
  readonly method: 'HEAD' | null;
  /** Bytes of the answer's body that the explanation contains. */
  readonly bodyBytes: number;
  /** The Admin API sends the request for a caller; null: the other end of the connection is the client. */
  readonly caller: ExplainCaller | null;
}

export interface ExplainCaller {
  /** Address of the caller, which becomes the client's. */
  readonly ip: string;
  /** Proves that the Admin API of this node sends it. */
  readonly key: string;
}

export const notExplained: ExplainMode = Object.freeze({
  explain: false,
  dry: false,
  method: null,
  bodyBytes: 0,
  caller: null,
});

/** Maximum bytes of a body that an explanation contains. */
export const maxShownBody = 262_144;

/**
 * Parses `X-Sluicegate-Explain`: `1` or `dry`, then optionally `; method=HEAD`, `; body=<bytes>`, and from the Admin API
 * `; caller=<address>; key=<key>`. Anything else, or several values, request nothing.
 */
export function explainMode(values: readonly string[]): ExplainMode {
  const [value, second] = values;
  const parts = value === undefined || second !== undefined ? null : form.exec(value);
  if (parts === null) return notExplained;
  const [, kind, method, bytes, ip, key] = parts;
  return {
    explain: true,
    dry: kind?.toLowerCase() === 'dry',
    method: method === undefined ? null : 'HEAD',
    bodyBytes: Math.min(Number(bytes ?? 0), maxShownBody),
    caller: ip === undefined || key === undefined ? null : { ip, key },
  };
}

const form =
  /^(1|dry)(?:\s*;\s*method=(HEAD))?(?:\s*;\s*body=(\d{1,9}))?(?:\s*;\s*caller=([0-9a-f.:]{2,45});\s*key=([0-9a-f]{64}))?$/i;
