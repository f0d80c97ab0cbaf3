import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const helper = fileURLToPath(new URL('./descriptor-echo.ts', import.meta.url));
/** Milliseconds in which the helper has to answer. */
const timeout = 10_000;

/** A handle that arrived from another process. Nothing polls it, and it is never closed: its descriptor belongs to a worker. */
interface ReceivedHandle {
  readonly fd?: number;
}

/** Each was received once; Node would report one that is collected. */
const received: ReceivedHandle[] = [];

/**
 * New descriptors of the same sockets, so that several workers can accept on one. Node cannot duplicate a descriptor, but it can
 * send one to another process and back: a helper returns each socket `count` times, and ends.
 */
export async function duplicateDescriptors(
  sockets: readonly { readonly descriptor: number; readonly udp: boolean; readonly count: number }[],
): Promise<readonly (readonly number[])[]> {
  const wanted = sockets.reduce((sum, { count }) => sum + count, 0);
  if (wanted === 0) return sockets.map(() => []);
  const plan = JSON.stringify(sockets.map(({ udp, count }) => ({ udp, count })));
  const child = spawn(process.execPath, [...process.execArgv, helper, plan], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', ...sockets.map(({ descriptor }) => descriptor)],
    env: {},
  });
  const found: number[][] = sockets.map(() => []);
  let arrived = 0;
  const done = Promise.withResolvers<void>();
  const timer = setTimeout(() => done.reject(new Error('no answer in time')), timeout);
  child.on('message', (at, handle) => {
    const { fd } = (handle ?? {}) as ReceivedHandle;
    if (typeof at !== 'number' || fd === undefined || fd < 0) return;
    received.push(handle as ReceivedHandle);
    found[at]?.push(fd);
    if (++arrived === wanted) done.resolve();
  });
  child.once('error', (error) => done.reject(error));
  child.once('exit', () => done.reject(new Error('the helper ended')));
  try {
    await done.promise;
    return found;
  } catch (error) {
    throw new Error(`sockets cannot be shared between workers: ${error instanceof Error ? error.message : error}`);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
