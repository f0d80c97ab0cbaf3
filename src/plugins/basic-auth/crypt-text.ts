/** The alphabet in which crypt(3) writes salts and hashes. */
export const cryptAlphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `count` characters of a value, its lowest six bits first. */
export function cryptText(value: number, count: number): string {
  let text = '';
  for (let at = 0, rest = value; at < count; at++, rest >>>= 6) text += cryptAlphabet[rest & 63];
  return text;
}

/** Encodes the bytes of a hash in the order of its format: three bytes to four characters, the last ones to as many as needed. */
export function cryptBytes(digest: Buffer, groups: readonly (readonly number[])[]): string {
  let text = '';
  for (const group of groups) {
    const value = group.reduce((sum, at) => sum * 256 + (digest[at] ?? 0), 0);
    text += cryptText(value, group.length + 1);
  }
  return text;
}
