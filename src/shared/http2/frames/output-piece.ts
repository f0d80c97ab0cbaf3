import { frameHeadSize, maxFrameSize } from './codes.ts';

/** Room for what one read of 64 KiB becomes in frames, and for heads. */
export const pieceSize: number = 4 * (frameHeadSize + maxFrameSize) + 2048;
/** At most 4 MiB for each worker; further pieces in flight are left to the garbage collector. */
const keptPieces = 60;
const free: OutputPiece[] = [];

/** Bytes that are written to a socket as a whole. Its buffer returns to a pool when the socket is done with it. */
export class OutputPiece {
  readonly bytes: Buffer = Buffer.allocUnsafeSlow(pieceSize);
  used = 0;
  /** Callback of the write. */
  readonly written = (): void => {
    if (free.length >= keptPieces) return;
    this.used = 0;
    free.push(this);
  };
}

export function takePiece(): OutputPiece {
  return free.pop() ?? new OutputPiece();
}
