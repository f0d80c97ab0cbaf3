import type { ClientSessionOptions } from 'node:http2';

/** Bytes of one answer that may come before the client takes any. */
const initialWindowSize = 131_072;
/** Node's own cap for a list of fields. */
const largestHeaderList = 65_535;

/** Bounds of a head; bytes and fields. */
export interface AnswerLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
}

/** Options of a session with a backend, which is trusted no more than a client is. */
export function clientSessionOptions(limits: AnswerLimits): ClientSessionOptions {
  return {
    settings: {
      enablePush: false,
      initialWindowSize,
      maxHeaderListSize: Math.min(largestHeaderList, limits.maxHeadSize),
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
