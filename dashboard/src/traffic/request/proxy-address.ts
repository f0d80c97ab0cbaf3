export interface ProxyListener {
  readonly port: number;
  readonly ssl: boolean;
}

/** The first listener of a scheme, or else the first one. Null: the node has none. `configuration`: of `GET /`. */
export function proxyListener(configuration: Readonly<Record<string, unknown>>, ssl: boolean): ProxyListener | null {
  const { proxy_listeners: listeners } = configuration;
  const all = Array.isArray(listeners) ? (listeners as readonly ProxyListener[]) : [];
  return all.find((listener) => listener.ssl === ssl) ?? all[0] ?? null;
}

/** The proxy on the host at which the browser reaches the dashboard. */
export function proxyUrl(configuration: Readonly<Record<string, unknown>>): string {
  const listener = proxyListener(configuration, false);
  return `${listener?.ssl === true ? 'https' : 'http'}://${location.hostname}:${listener?.port ?? 8000}`;
}
