import type { ClientSessionOptions } from 'node:http2';

/** Bytes of one response that may arrive before the client reads any. */
const initialWindowSize = 131_072;
/** Node's own limit for a header list. */
const maxNodeHeaderList = 65_535;

/** Limits of a response head; bytes and fields. */
export interface AnswerLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
}

/** Options of a session with a backend, which is trusted no more than a client. */
export function clientSessionOptions(limits: AnswerLimits): ClientSessionOptions {
  return {
    settings: {
      enablePush: false,
      initialWindowSize,
      maxHeaderListSize: Math.min(maxNodeHeaderList, limits.maxHeadSize),
    },
    maxHeaderListPairs: limits.maxHeaderCount + 1,
    maxReservedRemoteStreams: 0,
    maxSessionInvalidFrames: 50,
    maxSettings: 32,
    maxOutstandingPings: 4,
    /** Megabytes. */
    maxSessionMemory: 64,
    // A request may repeat any field, as over HTTP/1.1.
    strictSingleValueFields: false,
  } as ClientSessionOptions;
}
