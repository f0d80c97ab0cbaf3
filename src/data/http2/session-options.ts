import type { ServerSessionOptions } from 'node:http2';
import type { StreamHeadLimits } from './downstream-head.ts';

/** Streams that a client may have open at once; nginx's default. */
const maxConcurrentStreams = 128;
/** Bytes of one request body that may be in transit before the backend reads any. */
const initialWindowSize = 131_072;
/** The same for all bodies of a session together. The windows of its streams bound the memory. */
export const sessionWindowSize = 16_777_216;
/** Node's own limit for a header list. */
const maxNodeHeaderList = 65_535;

/**
 * Options of a client's session. Stricter than the defaults of node:http2 where those let a client cause more work than
 * a well-behaved client ever needs.
 */
export function sessionOptions(limits: StreamHeadLimits): ServerSessionOptions {
  return {
    settings: {
      enablePush: false,
      enableConnectProtocol: true,
      maxConcurrentStreams,
      initialWindowSize,
      // A head over our own limit gets an answer, so the limit at which Node resets the stream is larger.
      maxHeaderListSize: Math.min(maxNodeHeaderList, limits.maxHeadSize * 2),
    },
    maxHeaderListPairs: limits.maxHeaderCount + 16,
    maxSessionInvalidFrames: 50,
    // A client may open streams before it has received the limit.
    maxSessionRejectedStreams: 500,
    maxSettings: 32,
    maxOutstandingPings: 4,
    /** Megabytes; every stream may have a full window of unread body. */
    maxSessionMemory: 32,
    streamResetBurst: 400,
    streamResetRate: 40,
    // A backend's response may repeat any field.
    strictSingleValueFields: false,
  } as ServerSessionOptions;
}
