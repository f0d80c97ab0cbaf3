import { Flag, FrameType, ResetCode } from './codes.ts';

/** The error code of a frame whose length or stream is never valid for its type; 0: none (RFC 9113 6). */
export function sizeProblem(type: number, flags: number, length: number, stream: number): number {
  switch (type) {
    case FrameType.settings:
      if (stream !== 0) return ResetCode.protocolError;
      return (flags & Flag.ack) !== 0 ? wrongSize(length === 0) : wrongSize(length % 6 === 0);
    case FrameType.ping:
      return stream !== 0 ? ResetCode.protocolError : wrongSize(length === 8);
    case FrameType.goaway:
      return stream !== 0 ? ResetCode.protocolError : wrongSize(length >= 8);
    case FrameType.windowUpdate:
      return wrongSize(length === 4);
    case FrameType.rstStream:
      return stream === 0 ? ResetCode.protocolError : wrongSize(length === 4);
    case FrameType.headers: {
      const least = ((flags & Flag.padded) !== 0 ? 1 : 0) + ((flags & Flag.priority) !== 0 ? 5 : 0);
      return stream === 0 ? ResetCode.protocolError : wrongSize(length >= least);
    }
    default:
      return stream === 0 ? ResetCode.protocolError : 0;
  }
}

function wrongSize(right: boolean): number {
  return right ? 0 : ResetCode.frameSizeError;
}

/** A number of four bytes, the most significant first. */
export function uint32(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)) >>>
    0
  );
}
