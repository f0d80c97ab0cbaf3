/** An address that a node listens on. */
export interface OwnListener {
  readonly ip: string;
  readonly port: number;
  readonly ssl: boolean;
  readonly proxyProtocol: boolean;
}

/**
 * The listener to which a request from this machine can be sent; null: there is none. One that expects the PROXY protocol has
 * a load balancer in front of it, and refuses direct requests.
 */
export function ownListener<T extends OwnListener>(listeners: readonly T[], secure: boolean): T | null {
  const usable = listeners.filter(({ proxyProtocol }) => !proxyProtocol);
  return usable.find(({ ssl }) => ssl === secure) ?? (secure ? null : (usable[0] ?? null));
}

/** The address to connect to on this machine: loopback for a listener on all interfaces. */
export function reachableHost(ip: string): string {
  return ip === '0.0.0.0' ? '127.0.0.1' : ip === '::' ? '::1' : ip;
}
