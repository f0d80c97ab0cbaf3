/** A validated request head, as both engines hand it to the data plane. */
export interface RequestHead {
  readonly method: string;
  /** Origin form as sent: path and query. */
  readonly target: string;
  /** Path as sent, without the query. */
  readonly rawPath: string;
  /** Query without the question mark; '' when absent. A lone '?' is told apart by `hasQuery`. */
  readonly query: string;
  readonly hasQuery: boolean;
  /** Host header as sent, port included; '' when absent (HTTP/1.0). */
  readonly host: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  /** All header lines as sent (header-block.ts). */
  readonly block: string;
  /** Declared length of the body; 0 when there is none, -1 when it is chunked. */
  readonly bodyLength: number;
}
