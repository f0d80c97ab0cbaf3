import { createHash, createHmac } from 'node:crypto';

/** What functions may call as `encode`: conversions that JavaScript alone does not have. Texts are UTF-8. */
export interface FunctionEncode {
  base64(text: string): string;
  /** Standard or URL-safe alphabet. Bytes that are no UTF-8 become U+FFFD. */
  fromBase64(text: string): string;
  base64url(text: string): string;
  /** Hexadecimal digits. */
  sha256(text: string): string;
  /** Hexadecimal digits. */
  hmacSha256(key: string, text: string): string;
}

export const encode: FunctionEncode = Object.freeze({
  base64: (text: string) => Buffer.from(text).toString('base64'),
  fromBase64: (text: string) => Buffer.from(text, 'base64').toString(),
  base64url: (text: string) => Buffer.from(text).toString('base64url'),
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
  hmacSha256: (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex'),
});
