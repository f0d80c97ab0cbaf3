/** An answer other than success, thrown by any part of a request. */
export class HttpError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) {
    super(typeof body['message'] === 'string' ? body['message'] : `HTTP status ${status}`);
    this.name = 'HttpError';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** The same error with a `hint` for the client, a member that Kong does not have. */
export function withHint(error: HttpError, hint: string | null): HttpError {
  return hint === null || 'hint' in error.body
    ? error
    : new HttpError(error.status, { ...error.body, hint }, error.headers);
}

export function plainError(status: number, message: string): HttpError {
  return new HttpError(status, { message });
}

export const notFound = (): HttpError => plainError(404, 'Not found');
/** `allow`: the methods that the path has, as `allowedMethods` lists them. */
export const methodNotAllowed = (allow: string): HttpError =>
  new HttpError(405, { message: 'Method not allowed' }, { allow });
export const notImplemented = (): HttpError => plainError(501, 'Method not implemented');
export const tooManyArguments = (): HttpError => plainError(400, 'Too many arguments');
export const cannotParseJson = (): HttpError => plainError(400, 'Cannot parse JSON body');
export const unsupportedMediaType = (): HttpError => plainError(415, 'Unsupported media type');
export const payloadTooLarge = (): HttpError => plainError(413, 'Payload too large');
export const storeUnavailable = (reason: string): HttpError => plainError(503, reason);
export const unexpectedError = (): HttpError => plainError(500, 'An unexpected error occurred');
