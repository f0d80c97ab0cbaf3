/** Bytes for WebCrypto, which takes no shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>;

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** Each character is a byte, as in a header. */
export function latin1(text: string): Bytes {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function toBase64(bytes: Bytes): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Null: it is not base64. */
export function fromBase64(text: string): Bytes | null {
  try {
    return latin1(atob(text.replaceAll('-', '+').replaceAll('_', '/').replace(/\s/g, '')));
  } catch {
    return null;
  }
}

/** Without padding, for tokens. */
export function toBase64Url(bytes: Bytes): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

type Subtle = typeof globalThis.crypto.subtle;

/** WebCrypto, or null: the page is neither on https nor on loopback. */
export function subtleCrypto(): Subtle | null {
  const { subtle } = globalThis.crypto as { readonly subtle?: Subtle };
  return subtle ?? null;
}

export const noCrypto =
  'This browser offers cryptography to pages on https or on 127.0.0.1 only. Open the dashboard there to sign tokens.';

/** A problem that the person who fills the form in can fix. */
export class TokenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TokenError';
  }
}

export function needCrypto(): Subtle {
  const subtle = subtleCrypto();
  if (subtle === null) throw new TokenError(noCrypto);
  return subtle;
}
