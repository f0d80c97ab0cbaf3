/**
 * The Host header for a backend: the port is left out only when it is the protocol's own. `name` may be an upstream's
 * `host_header`, which can bring a port along; that one is kept.
 */
export function hostHeader(protocol: string, name: string, port: number): string {
  const isV6 = name.includes(':') && !name.startsWith('[') && name.indexOf(':') !== name.lastIndexOf(':');
  const host = isV6 ? `[${name}]` : name;
  if (/(?:^[^:[\]]+|\]):\d+$/.test(host)) return host;
  if (port === 80 && (protocol === 'http' || protocol === 'grpc')) return host;
  if (port === 443 && (protocol === 'https' || protocol === 'grpcs')) return host;
  return `${host}:${port}`;
}
