import type { ErrorEntry } from '../../shared/errors.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { Refusal } from '../answer/gateway-answer.ts';
import type { AddressBudgets } from '../http2/address-budgets.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';
import type { ClientConnection, DownstreamHandler } from './downstream.ts';
import type { DownstreamPeer, Exchange } from './exchange.ts';
import type { ProxyOptions } from './options.ts';

/** Limits and timeouts of client connections, in milliseconds and bytes. */
export interface DownstreamLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  readonly headTimeout: number;
  readonly bodyTimeout: number;
  readonly sendTimeout: number;
  readonly keepaliveTimeout: number;
  readonly keepaliveRequests: number;
  /** Minimum rate of a request body in bytes per second; 0: none. */
  readonly bodyMinRate: number;
  /** Maximum size of a request body; 0: unlimited. */
  readonly maxBodySize: number;
}

export function downstreamLimits(settings: Settings): DownstreamLimits {
  return {
    maxHeadSize: settings.maxHeadSize,
    maxHeaderCount: settings.maxHeaderCount,
    headTimeout: settings.clientHeaderTimeout,
    bodyTimeout: settings.clientBodyTimeout,
    bodyMinRate: settings.clientBodyMinRate,
    sendTimeout: settings.sendTimeout,
    keepaliveTimeout: settings.keepaliveTimeout,
    keepaliveRequests: settings.keepaliveRequests,
    maxBodySize: settings.clientMaxBodySize,
  };
}

/** What a client connection needs of the worker around it, in every protocol version. */
export interface DownstreamHost {
  readonly limits: DownstreamLimits;
  readonly options: ProxyOptions;
  readonly handler: DownstreamHandler;
  readonly snapshots: { readonly current: RuntimeSnapshot };
  /** True while the node stops: connections close after the answer in flight. */
  readonly draining: boolean;
  /** What an address may cost over HTTP/2. */
  readonly budgets: AddressBudgets;
  closed(connection: ClientConnection): void;
  /** Logs an uncaught exception. The exchange is answered with 500; without one, the connection ends. */
  unexpected(exchange: Exchange | null, error: unknown): void;
  /**
   * The answer to a request that could not be parsed; counted and logged. `request`: the part of its head that arrived, or its
   * exchange, which is finished.
   */
  refusal(peer: DownstreamPeer, error: ErrorEntry, request: string | Exchange): Refusal;
}
