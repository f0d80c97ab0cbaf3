/** Receives the decoded pieces of a body. The range is valid only during the call. */
export interface BodySink {
  bodyData(bytes: Uint8Array, start: number, end: number): void;
}

/** Where a request body goes. */
export interface RequestBodySink extends BodySink {
  /** The body is complete. `trailers` are validated lines, each ended by CRLF. */
  bodyEnd(trailers: string): void;
}
