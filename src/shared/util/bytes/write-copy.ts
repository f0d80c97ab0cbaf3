import type { Writable } from 'node:stream';

/** Bytes of a buffer of the pool. */
export const writeBufferSize = 65_536;
/** At most 4 MiB for each worker; further copies in flight are left to the garbage collector. */
const keptBuffers = 64;
const free: Buffer[] = [];
/** What `writeBuffer` has returned, until a write takes it. */
let lent: Buffer | null = null;

/**
 * A buffer to collect bytes in that will be written: `writeCopy` takes it as it is instead of copying it. Each call returns the same
 * one until then, so use it up before anything else can call this.
 */
export function writeBuffer(): Buffer {
  lent ??= free.pop() ?? Buffer.allocUnsafeSlow(writeBufferSize);
  return lent;
}

/**
 * Writes a copy of the range, so that its buffer can be reused at once. Copies live in buffers that return to a pool
 * when the socket is done with them: a fresh 64 KiB for each read costs more than the copy (page faults, collection).
 * Returns the result of `write`.
 */
export function writeCopy(socket: Writable, bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes === lent && start === 0) {
    lent = null;
    return write(socket, bytes as Buffer, end);
  }
  let open = true;
  for (let at = start; at < end; at += writeBufferSize) {
    const size = Math.min(writeBufferSize, end - at);
    const buffer = free.pop() ?? Buffer.allocUnsafeSlow(writeBufferSize);
    buffer.set(bytes.subarray(at, at + size));
    open = write(socket, buffer, size);
  }
  return open;
}

function write(socket: Writable, buffer: Buffer, size: number): boolean {
  return socket.write(size === writeBufferSize ? buffer : buffer.subarray(0, size), () => {
    if (free.length < keptBuffers) free.push(buffer);
  });
}
