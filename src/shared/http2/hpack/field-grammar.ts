/** Bytes of a field name: a token without upper case (RFC 9110 5.6.2, RFC 9113 8.2). */
const nameBytes = bytesOf(/[!#$%&'*+\-.^_`|~0-9a-z]/);
/** Bytes of a field value (RFC 9110 5.5). */
const valueBytes = bytesOf(/[\t\x20-\x7e\x80-\xff]/);

const colon = 0x3a;
const space = 0x20;
const tab = 0x09;

function bytesOf(allowed: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (allowed.test(String.fromCharCode(byte)) ? 1 : 0));
}

/** The range is a name in lower case, which begins with a colon if it is that of a pseudo-header field. */
export function isFieldName(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start < end && bytes[start] === colon ? start + 1 : start;
  if (at === end) return false;
  for (; at < end; at++) if (nameBytes[bytes[at] as number] === 0) return false;
  return true;
}

/** The field belongs to a connection of HTTP/1.1: a message that has it is malformed (RFC 9113 8.2.2). */
export function isConnectionSpecific(name: string): boolean {
  switch (name.length) {
    case 7:
      return name === 'upgrade';
    case 10:
      return name === 'connection' || name === 'keep-alive';
    case 16:
      return name === 'proxy-connection';
    case 17:
      return name === 'transfer-encoding';
    default:
      return false;
  }
}

/** The range is a value without control bytes, and without blanks around it (RFC 9113 8.2.1). */
export function isFieldValue(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  if (isBlank(bytes[start] as number) || isBlank(bytes[end - 1] as number)) return false;
  for (let at = start; at < end; at++) if (valueBytes[bytes[at] as number] === 0) return false;
  return true;
}

function isBlank(byte: number): boolean {
  return byte === space || byte === tab;
}
