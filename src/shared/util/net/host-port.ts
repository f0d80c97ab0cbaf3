/** Splits `host:port` and `[v6]:port`. Default port: 8000, as in Kong. Throws when it is not an address. */
export function splitHostPort(address: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::(?<port>\d{1,5}))?$/.exec(address)?.groups;
  const host = parts?.['v6'] ?? parts?.['name'];
  const port = Number(parts?.['port'] ?? 8000);
  if (host === undefined || port > 65_535) throw new Error(`the target '${address}' is not an address`);
  return { host, port };
}
