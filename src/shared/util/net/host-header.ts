/**
 * The Host header for a backend: the port is omitted only when it is the protocol's own. `name` may be an upstream's
 * `host_header`, which can contain a port; that one is kept.
 */
export function hostHeader(protocol: string, name: string, port: number): string {
  const isV6 = name.includes(':') && !name.startsWith('[') && name.indexOf(':') !== name.lastIndexOf(':');
  const host = isV6 ? `[${name}]` : name;
  if (/(?:^[^:[\]]+|\]):\d+$/.test(host)) return host;
  if (port === 80 && (protocol === 'http' || protocol === 'grpc')) return host;
  if (port === 443 && (protocol === 'https' || protocol === 'grpcs')) return host;
  return `${host}:${port}`;
}

/** Host in lower case, without the port. */
export function hostName(host: string): string {
  const colon = host.lastIndexOf(':');
  const name = colon < 0 || host.charCodeAt(host.length - 1) === 93 ? host : host.slice(0, colon);
  return name.toLowerCase();
}
