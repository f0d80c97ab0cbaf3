import { offThread } from '../runtime/off-thread.ts';
import { changeJsonBody, type JsonChange, sharedCopy } from './json-changes.ts';

/** Bytes from which a body is changed in a thread: 128 KB hold up the event loop for 10 ms at most (measured on two busy cores). */
const largeBody = 128 * 1024;

const inThread = offThread<[Uint8Array, readonly JsonChange[]], Uint8Array | null>(
  new URL('./json-changes.ts', import.meta.url),
  'changeSharedJson',
);

/**
 * `changeJsonBody` at once for bodies of usual size, in a thread for large ones. Throws, or rejects, with a `BodySyntaxError` or a
 * `JsonValueError`, from the thread as errors of that name, or an `OffThreadError`. `client`: the IP address of the client.
 */
export function changeJson(
  body: Uint8Array,
  changes: readonly JsonChange[],
  client: string,
): Uint8Array | null | Promise<Uint8Array | null> {
  return body.byteLength < largeBody ? changeJsonBody(body, changes) : changeLarge(body, changes, client);
}

/** Through shared memory, copied once each way: posted messages are copied several times, which takes 150 ms for 32 MB. */
async function changeLarge(
  body: Uint8Array,
  changes: readonly JsonChange[],
  client: string,
): Promise<Uint8Array | null> {
  const changed = await inThread.forClient(client, sharedCopy(body), changes);
  return changed === null ? null : Buffer.from(changed);
}

/** The problem of a body that could not be read; null for any other error. */
export function bodyFault(error: unknown): string | null {
  return error instanceof Error && error.name === 'BodySyntaxError' ? error.message : null;
}
