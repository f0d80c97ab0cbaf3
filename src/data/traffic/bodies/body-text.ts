/** Names of UTF-8; null: none is given. */
const utf8Names: ReadonlySet<string | null> = new Set([null, 'utf-8', 'utf8', 'us-ascii', 'ascii']);
/** Characters that are in no text. */
const control = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/** The body as a text; null: it is none. `isCut`: its last character may be incomplete. */
export function bodyText(body: Buffer, charset: string | null, isCut: boolean): string | null {
  const text = decoded(body, utf8Names.has(charset) ? 'utf-8' : (charset as string), isCut);
  return text === null || control.test(text) ? null : text;
}

function decoded(body: Buffer, charset: string, isCut: boolean): string | null {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(body, { stream: isCut });
  } catch {
    return null;
  }
}
