import { nodeLoad } from './node-load.ts';

export interface OpenLoopOptions {
  /** Without a query. */
  readonly url: string;
  /** Requests per second, whatever the answers do. */
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Latencies are milliseconds, from when a request was due. */
export interface OpenLoopFigures {
  readonly requests: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Loads at a constant rate, in a process of its own. */
export async function openLoopLoad(options: OpenLoopOptions): Promise<OpenLoopFigures> {
  const { hostname, port, pathname } = new URL(options.url);
  const { rate, seconds, connections } = options;
  return await nodeLoad('open-loop.ts', [hostname, port, pathname, rate, seconds, connections]);
}
