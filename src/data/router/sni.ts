/** Whether a TLS server name is one of the patterns: a name, `*.example.com` or `example.*`. */
export function matchesSni(patterns: readonly string[], sni: string): boolean {
  if (sni === '') return false;
  for (const pattern of patterns) if (matchesName(pattern, sni)) return true;
  return false;
}

/** The same for one pattern. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  if (pattern.startsWith('*') && name.endsWith(pattern.slice(1))) return true;
  return pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1));
}
