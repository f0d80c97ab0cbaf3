/**
 * The head of a request as HTTP/1.1 has it, from names and values in turn. Nothing in them may end a line: the names and values of a parsed
 * request cannot. Pseudo-headers of HTTP/2 become the host.
 */
export function headText(method: string, target: string, pairs: readonly string[], more = ''): string {
  let lines = '';
  let authority = '';
  let hasHost = false;
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at] as string;
    const value = pairs[at + 1] as string;
    if (name.startsWith(':')) {
      if (name === ':authority') authority = value;
      continue;
    }
    if (name.length === 4 && name.toLowerCase() === 'host') hasHost = true;
    lines += `${name}: ${value}\r\n`;
  }
  if (!hasHost && authority !== '') lines = `Host: ${authority}\r\n${lines}`;
  return `${method} ${target} HTTP/1.1\r\n${lines}${more}\r\n`;
}

/** Names and values in turn, of lines as `Name: value\r\n`. */
export function pairsOf(lines: string): string[] {
  const pairs: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf('\r\n', at);
    const colon = lines.indexOf(':', at);
    pairs.push(lines.slice(at, colon), lines.slice(colon + 1, end).trim());
    at = end + 2;
  }
  return pairs;
}
