/** Splits `host:port` and `[v6]:port`. The port is 8000 when there is none, as Kong has it. Throws when it is no address. */
export function splitHostPort(address: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::(?<port>\d{1,5}))?$/.exec(address)?.groups;
  const host = parts?.['v6'] ?? parts?.['name'];
  const port = Number(parts?.['port'] ?? 8000);
  if (host === undefined || port > 65_535) throw new Error(`the target '${address}' is not an address`);
  return { host, port };
}
