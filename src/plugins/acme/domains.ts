/** The server name in the form that is compared: lower case, without a final dot. */
export function plainName(serverName: string): string {
  const name = serverName.toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Whether an authority could issue a certificate for the name: a host name of at least two labels (RFC 1123), not an
 * address. A client that connects to an address sends no server name, so its certificate would never be used.
 */
export function isCertifiable(name: string): boolean {
  if (name.length > 253) return false;
  const labels = name.split('.');
  if (labels.length < 2 || !labels.every((part) => label.test(part))) return false;
  return !/^\d+$/.test(labels.at(-1) ?? '');
}

export interface DomainRules {
  readonly domains: readonly string[] | null;
  readonly allow_any_domain: boolean | null;
}

/** Compiles which names (lower case) may have a certificate. `*.example.com` matches every name below it. */
export function domainMatcher({ domains, allow_any_domain: any }: DomainRules): (name: string) => boolean {
  if (any === true) return () => true;
  const exact = new Set<string>();
  const suffixes: string[] = [];
  const prefixes: string[] = [];
  for (const domain of (domains ?? []).map(plainName)) {
    if (domain === '*') return () => true;
    if (domain.startsWith('*')) suffixes.push(domain.slice(1));
    else if (domain.endsWith('*')) prefixes.push(domain.slice(0, -1));
    else exact.add(domain);
  }
  return (name) =>
    exact.has(name) ||
    suffixes.some((suffix) => name.length > suffix.length && name.endsWith(suffix)) ||
    prefixes.some((prefix) => name.length > prefix.length && name.startsWith(prefix));
}
