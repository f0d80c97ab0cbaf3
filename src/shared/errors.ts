/**
 * The single table of errors that the data plane answers with. Client-visible text is Kong's. `source` says which side
 * failed; `retry` whether the request may be sent to the backend again.
 */
export interface ErrorEntry {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly source: 'downstream' | 'upstream' | 'internal';
  /** `reused-connection`: only when the connection had served a request before and may have been closed meanwhile. */
  readonly retry: 'never' | 'always' | 'reused-connection';
  /**
   * Format of the body where the client accepts any: `json`; `wire`: the request's own media type, then
   * `error_default_type`; `plain`: always text/plain.
   */
  readonly format: 'json' | 'wire' | 'plain';
}

function entry(
  code: string,
  status: number,
  message: string,
  source: ErrorEntry['source'],
  retry: ErrorEntry['retry'] = 'never',
  format: ErrorEntry['format'] = source === 'upstream' ? 'wire' : 'json',
): ErrorEntry {
  return Object.freeze({ code, status, message, source, retry, format });
}

const invalidResponse = 'An invalid response was received from the upstream server';
const timingOut = 'The upstream server is timing out';

export const errors = Object.freeze({
  badRequest: entry('BAD_REQUEST', 400, 'Bad request', 'downstream', 'never', 'plain'),
  headTooLarge: entry('HEAD_TOO_LARGE', 400, 'Request header or cookie too large', 'downstream', 'never', 'wire'),
  methodNotAllowed: entry('METHOD_NOT_ALLOWED', 405, 'Method not allowed', 'downstream', 'never', 'wire'),
  requestTimeout: entry('REQUEST_TIMEOUT', 408, 'Request timeout', 'downstream', 'never', 'wire'),
  payloadTooLarge: entry('PAYLOAD_TOO_LARGE', 413, 'Payload too large', 'downstream', 'never', 'wire'),
  requestSizeExceeded: entry('REQUEST_SIZE_EXCEEDED', 413, 'Request size limit exceeded', 'downstream'),
  uriTooLong: entry('URI_TOO_LONG', 414, 'URI too long', 'downstream', 'never', 'wire'),
  expectationFailed: entry('EXPECTATION_FAILED', 417, 'Expectation failed', 'downstream', 'never', 'wire'),
  transferEncoding: entry('TRANSFER_ENCODING', 501, 'Not implemented', 'downstream', 'never', 'wire'),
  httpsRequired: entry('HTTPS_REQUIRED', 426, 'Please use HTTPS protocol', 'downstream'),
  http2Required: entry('HTTP2_REQUIRED', 426, 'Please use HTTP2 protocol', 'downstream'),
  notGrpc: entry('NOT_GRPC', 415, 'Non-gRPC request matched gRPC route', 'downstream'),
  noRoute: entry('NO_ROUTE', 404, 'no Route matched with those values', 'downstream'),
  noService: entry('NO_SERVICE', 503, 'no Service found with those values', 'internal'),
  nameResolution: entry('NAME_RESOLUTION', 503, 'name resolution failed', 'upstream', 'never', 'json'),
  noTarget: entry('NO_TARGET', 503, 'failure to get a peer from the ring-balancer', 'upstream', 'never', 'json'),
  connectFailed: entry('CONNECT_FAILED', 502, invalidResponse, 'upstream', 'always'),
  connectTimeout: entry('CONNECT_TIMEOUT', 504, timingOut, 'upstream', 'always'),
  sendTimeout: entry('SEND_TIMEOUT', 504, timingOut, 'upstream'),
  firstByteTimeout: entry('FIRST_BYTE_TIMEOUT', 504, timingOut, 'upstream'),
  idleTimeout: entry('IDLE_TIMEOUT', 504, timingOut, 'upstream'),
  totalTimeout: entry('TOTAL_TIMEOUT', 504, timingOut, 'upstream'),
  upstreamClosed: entry('UPSTREAM_CLOSED', 502, invalidResponse, 'upstream', 'reused-connection'),
  /** An HTTP/2 backend has stated that it has not processed the request (RFC 9113 8.7). */
  upstreamRefused: entry('UPSTREAM_REFUSED', 502, invalidResponse, 'upstream', 'always'),
  badResponse: entry('BAD_RESPONSE', 502, invalidResponse, 'upstream'),
  responseTooLarge: entry('RESPONSE_TOO_LARGE', 502, invalidResponse, 'upstream'),
  draining: entry('DRAINING', 503, 'The upstream server is currently unavailable', 'internal', 'never', 'wire'),
  overloaded: entry('OVERLOADED', 503, 'Service temporarily unavailable', 'internal'),
  storeUnavailable: entry('STORE_UNAVAILABLE', 503, 'Service temporarily unavailable', 'internal'),
  pluginOverBudget: entry('PLUGIN_OVER_BUDGET', 503, 'Service temporarily unavailable', 'internal'),
  unexpected: entry('UNEXPECTED', 500, 'An unexpected error occurred', 'internal'),
});

/** Thrown where bodies are buffered when the worker's body memory is used up. Uncaught, it becomes a 503. */
export class BodyMemoryExhausted extends Error {
  constructor() {
    super('there is no memory for the body');
    this.name = 'BodyMemoryExhausted';
  }
}

/** Thrown to a plugin that requested a request body larger than its plan accepts; uncaught, it becomes a 413. */
export class RequestBodyTooLarge extends Error {
  constructor() {
    super('the request body is larger than the plugin takes');
    this.name = 'RequestBodyTooLarge';
  }
}
