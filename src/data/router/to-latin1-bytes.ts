/** Converts configured text to the form of received text: its UTF-8 bytes, one char for each. */
export function toLatin1Bytes(text: string): string {
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}
