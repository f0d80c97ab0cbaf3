import type { IncomingMessage } from 'node:http';
import type { AdminDependencies, AdminOptions } from '../admin/contract.ts';

/** What the portal needs: the store, which it only reads, and the usage. */
export interface PortalDependencies {
  readonly settings: AdminDependencies['settings'];
  readonly store: AdminDependencies['store'];
  readonly analytics: AdminDependencies['analytics'];
  readonly entities: AdminOptions['entities'];
  readonly log: AdminOptions['log'];
}

export type PortalRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & {
  /** Address of the client. */
  readonly client: string;
};

/** An answer, complete. */
export interface PortalReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An answer other than success, thrown by any part of a request. */
export class PortalError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'PortalError';
    this.status = status;
    this.headers = headers;
  }
}

export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): PortalReply {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: Buffer.from(JSON.stringify(value)),
  };
}
