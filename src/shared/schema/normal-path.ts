const RESERVED: ReadonlyMap<string, string> = new Map(
  Array.from("!*'();:@&=+$,/?%#[]", (char) => [char, percentEncode(char.charCodeAt(0))]),
);

/**
 * The form in which paths are compared: escapes of unreserved characters decoded, those of reserved ones in upper case,
 * dot segments and repeated slashes removed.
 */
export function normalPath(path: string): string {
  const decoded = path.includes('%') ? decodeUnreserved(path) : path;
  return decoded.includes('/.') || decoded.includes('//') ? removeDotSegments(decoded) : decoded;
}

function decodeUnreserved(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
    const text = bytes.toString('utf8');
    if (Buffer.from(text).equals(bytes)) return Array.from(text, keepReserved).join('');
    // Not UTF-8: only ASCII is decoded.
    return Array.from(bytes, (byte) =>
      byte < 0x80 ? keepReserved(String.fromCharCode(byte)) : percentEncode(byte),
    ).join('');
  });
}

function keepReserved(char: string): string {
  return RESERVED.get(char) ?? char;
}

function percentEncode(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

function removeDotSegments(path: string): string {
  const output: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') output.pop();
    else if (segment !== '.' && segment !== '') output.push(segment);
    if (isLast && (segment === '' || segment === '.' || segment === '..')) output.push('');
  }
  return `/${output.join('/')}`;
}
