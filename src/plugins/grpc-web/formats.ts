/** The encoding of a gRPC-Web client's messages. */
export interface WebFormat {
  /** The media type, also of the response. */
  readonly type: string;
  /** The body is in base64 (`grpc-web-text`). */
  readonly text: boolean;
  /** Messages are JSON. */
  readonly json: boolean;
  /** Messages are in length-prefixed frames, as in gRPC; the trailers are the last frame. */
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

/** Plain gRPC, which a route may accept in addition to gRPC-Web. */
export function isPlainGrpc(contentType: string | null): boolean {
  return contentType !== null && /^application\/grpc(?:\+|;|$)/.test(contentType);
}
