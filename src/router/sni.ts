/** Whether a TLS server name is one of the patterns: a name, `*.example.com` or `example.*`. */
export function matchesSni(patterns: readonly string[], sni: string): boolean {
  if (sni === '') return false;
  for (const pattern of patterns) {
    if (pattern === sni) return true;
    if (pattern.startsWith('*') && sni.endsWith(pattern.slice(1))) return true;
    if (pattern.endsWith('*') && sni.startsWith(pattern.slice(0, -1))) return true;
  }
  return false;
}
