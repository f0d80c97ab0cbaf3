/** Frame types (RFC 9113 6). */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const Flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Identifiers of settings (RFC 9113 6.5.2, RFC 8441 3). */
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
} as const;

/** Error codes (RFC 9113 7). */
export const ResetCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const;

export const frameHeadSize = 9;
/** The largest payload that either side sends: the initial value, which the gateway does not change (RFC 9113 6.5.2). */
export const maxFrameSize = 16_384;
/** Window of a connection, and of its streams without another setting, in bytes (RFC 9113 6.9.2). */
export const initialWindow = 65_535;
export const maxWindow = 2 ** 31 - 1;
export const maxStreamId = 2 ** 31 - 1;

/** What a client with prior knowledge of HTTP/2, and each client over TLS, sends first (RFC 9113 3.4). */
export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
