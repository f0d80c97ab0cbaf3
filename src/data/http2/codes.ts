/** Error codes of RFC 9113 7 that the gateway sends. */
export const ResetCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  refusedStream: 0x7,
  cancel: 0x8,
  enhanceYourCalm: 0xb,
} as const;
