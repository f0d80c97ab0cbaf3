import type { ServerSessionOptions } from 'node:http2';
import type { StreamHeadLimits } from './downstream-head.ts';

/** Streams that a client may have open at once; nginx's default. */
const maxConcurrentStreams = 128;
/** Bytes of one request body that may be on their way before the backend takes any. */
const initialWindowSize = 131_072;
/** The same of all bodies of a session together. The windows of its streams are what bounds memory. */
export const sessionWindowSize = 16_777_216;
/** Node's own cap for a list of fields. */
const largestHeaderList = 65_535;

/**
 * Options of a client's session. Where the defaults of node:http2 let a client do more for nothing than an orderly one
 * ever needs, they are narrower here.
 */
export function sessionOptions(limits: StreamHeadLimits): ServerSessionOptions {
  return {
    settings: {
      enablePush: false,
      enableConnectProtocol: true,
      maxConcurrentStreams,
      initialWindowSize,
      // A head over our own limit is to be answered, so what Node resets the stream for is larger.
      maxHeaderListSize: Math.min(largestHeaderList, limits.maxHeadSize * 2),
    },
    maxHeaderListPairs: limits.maxHeaderCount + 16,
    maxSessionInvalidFrames: 50,
    // A client may open streams before it has seen how many it may.
    maxSessionRejectedStreams: 500,
    maxSettings: 32,
    maxOutstandingPings: 4,
    /** Megabytes; every stream may have a window full of unread body. */
    maxSessionMemory: 32,
    streamResetBurst: 400,
    streamResetRate: 40,
    // A backend's answer may repeat any field.
    strictSingleValueFields: false,
  } as ServerSessionOptions;
}
