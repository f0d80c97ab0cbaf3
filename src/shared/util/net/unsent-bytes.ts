import type { Socket } from 'node:net';

/** Bytes that the kernel does not have yet. Only the handle knows this for the write in flight; without it, whole writes count. */
export function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle: { readonly writeQueueSize?: number } | null };
  return socket.writableLength + (handle?.writeQueueSize ?? 0);
}
