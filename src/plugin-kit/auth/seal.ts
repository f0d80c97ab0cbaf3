import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Encrypts and authenticates small texts that a client keeps: AES-256-GCM (NIST SP 800-38D) with a key derived from the secret by
 * HKDF-SHA-256 (RFC 5869).
 */
export interface Sealer {
  /** `expiresAt`: seconds since the epoch, at least 0. The result is base64url: 52 characters more than 4/3 of the bytes. */
  seal(text: string, expiresAt: number): string;
  /** The text; null: it was sealed with another secret or purpose, was changed, has expired, or is no sealed text. */
  open(sealed: string): string | null;
  /** Like `open`, with the time of expiry. */
  openWithExpiry(sealed: string): OpenedText | null;
}

export interface OpenedText {
  readonly text: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/*
 * version (1 byte) | expiry (6) | salt (16) | tag (16) | ciphertext. Every text has a key and a nonce of its own, made
 * of the salt, so that the number of texts under one secret needs no bound (a random 96-bit nonce alone would have one).
 */
const version = 1;
const saltAt = 7;
const tagAt = saltAt + 16;
const textAt = tagAt + 16;
const alphabet = /^[A-Za-z0-9_-]+$/;

/**
 * Makes a sealer. A text that was sealed for one `purpose` cannot be opened for another: include the plugin's name, and whatever
 * else must not be exchanged. `now`: milliseconds since the epoch.
 */
export function sealer(secret: string, purpose: string, now: () => number = () => Date.now()): Sealer {
  const master = Buffer.from(hkdfSync('sha256', secret, 'sluicegate sealed text', purpose, 32));
  return {
    seal(text, expiresAt) {
      const head = Buffer.allocUnsafe(tagAt);
      head.writeUInt8(version, 0);
      head.writeUIntBE(Math.floor(expiresAt), 1, 6);
      randomBytes(16).copy(head, saltAt);
      const { key, nonce } = messageKey(master, head.subarray(saltAt));
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(head);
      const sealed = [cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([head, cipher.getAuthTag(), ...sealed]).toString('base64url');
    },
    open: (sealed) => openWithExpiry(sealed)?.text ?? null,
    openWithExpiry,
  };

  function openWithExpiry(sealed: string): OpenedText | null {
    if (!alphabet.test(sealed)) return null;
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.byteLength < textAt || bytes[0] !== version || !isCanonical(bytes, sealed)) return null;
    const expiresAt = bytes.readUIntBE(1, 6);
    const text = expiresAt * 1000 <= now() ? null : opened(master, bytes);
    return text === null ? null : { text, expiresAt };
  }
}

function opened(master: Buffer, bytes: Buffer): string | null {
  const { key, nonce } = messageKey(master, bytes.subarray(saltAt, tagAt));
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  decipher.setAAD(bytes.subarray(0, tagAt)).setAuthTag(bytes.subarray(tagAt, textAt));
  const text = decipher.update(bytes.subarray(textAt));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return text.toString('utf8');
}

function messageKey(master: Buffer, salt: Buffer): { readonly key: Buffer; readonly nonce: Buffer } {
  const bytes = createHmac('sha512', master).update(salt).digest();
  return { key: bytes.subarray(0, 32), nonce: bytes.subarray(32, 44) };
}

/** False when the last character carries bits that decoding drops: then two texts would represent the same bytes. */
function isCanonical(bytes: Buffer, text: string): boolean {
  const tail = bytes.byteLength % 3;
  return tail === 0 ? text.length % 4 === 0 : bytes.subarray(-tail).toString('base64url') === text.slice(-tail - 1);
}
