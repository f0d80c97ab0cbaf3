import type { Server } from 'node:net';
import { performance } from 'node:perf_hooks';

/** Milliseconds to wait for an idle moment before the servers are closed anyway. */
const idleTimeout = 250;

/**
 * Iterations of the event loop before the first attempt, so that the code that closes is compiled and cached by then.
 */
const warmupIterations = 200;

interface Internals {
  readonly _handle?: { close?: () => void } | null;
}

/**
 * Closes servers right after the event loop has polled and found no events, when their accept queues are empty: the
 * kernel resets the connections in the queue of a closed socket. The rest of `Server.close` takes longer, so the
 * handles are closed first. Resolves when they are closed.
 */
export function closeWhenIdle(servers: readonly Server[]): Promise<void> {
  const handles = servers.map((server) => (server as unknown as Internals)._handle);
  const { nodeTiming } = performance;
  const end = performance.now() + idleTimeout;
  let iterations = 0;
  let seen = -1;
  return new Promise((resolve) => {
    const check = (): void => {
      const { events } = nodeTiming.uvMetricsInfo;
      const isIdle = events === seen && ++iterations > warmupIterations;
      if (isIdle || performance.now() >= end) {
        for (let at = 0; at < handles.length; at++) handles[at]?.close?.();
        for (const server of servers) server.close();
        resolve();
        return;
      }
      seen = events;
      setImmediate(check);
    };
    setImmediate(check);
  });
}
