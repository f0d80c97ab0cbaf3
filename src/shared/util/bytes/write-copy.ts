import type { Writable } from 'node:stream';

const pieceSize = 65_536;
/** At most 4 MiB for each worker; further copies in flight are left to the garbage collector. */
const keptPieces = 64;
const free: Buffer[] = [];

/**
 * Writes a copy of the range, so that its buffer can be reused at once. Copies live in buffers that return to a pool
 * when the socket is done with them: a fresh 64 KiB for each read costs more than the copy (page faults, collection).
 * Returns the result of `write`.
 */
export function writeCopy(socket: Writable, bytes: Uint8Array, start: number, end: number): boolean {
  let open = true;
  for (let at = start; at < end; at += pieceSize) {
    const size = Math.min(pieceSize, end - at);
    const piece = free.pop() ?? Buffer.allocUnsafeSlow(pieceSize);
    piece.set(bytes.subarray(at, at + size));
    open = socket.write(size === pieceSize ? piece : piece.subarray(0, size), () => {
      if (free.length < keptPieces) free.push(piece);
    });
  }
  return open;
}
