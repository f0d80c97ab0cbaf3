/** How a client of gRPC-Web writes its messages. */
export interface WebFormat {
  /** The media type, which the answer gets too. */
  readonly type: string;
  /** The body is in base64 (`grpc-web-text`). */
  readonly text: boolean;
  /** Messages are JSON. */
  readonly json: boolean;
  /** Messages stand in frames with their length, as in gRPC; the trailers follow as one of them. */
  readonly framed: boolean;
}

function format(type: string, text: boolean, json: boolean, framed: boolean): [string, WebFormat] {
  return [type, Object.freeze({ type, text, json, framed })];
}

const formats: ReadonlyMap<string, WebFormat> = new Map([
  format('application/grpc-web', false, false, true),
  format('application/grpc-web+proto', false, false, true),
  format('application/grpc-web+json', false, true, true),
  format('application/grpc-web-text', true, false, true),
  format('application/grpc-web-text+proto', true, false, true),
  format('application/grpc-web-text+json', true, true, true),
  format('application/json', false, true, false),
]);

/** The format of a `Content-Type`, or null. */
export function webFormat(contentType: string | null): WebFormat | null {
  return formats.get((contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '') ?? null;
}

/** gRPC as it is, which a route may take beside gRPC-Web. */
export function isPlainGrpc(contentType: string | null): boolean {
  return contentType !== null && /^application\/grpc(?:\+|;|$)/.test(contentType);
}
