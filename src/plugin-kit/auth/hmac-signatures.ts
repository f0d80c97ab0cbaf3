import { createHmac, timingSafeEqual } from 'node:crypto';

/** How a signature is made. */
export interface HmacScheme {
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64' | 'base64url';
}

/** For `verifyHmac`. */
export interface HmacCheck extends HmacScheme {
  /** All that are valid now: the new one and the old one while a secret rotates. None: nothing is valid. */
  readonly secrets: readonly string[];
  /** As the client sent it, without a prefix such as `sha256=`; null: none. */
  readonly signature: string | null;
  /** What was signed; several pieces are one after the other. */
  readonly payload: string | Uint8Array | readonly (string | Uint8Array)[];
}

const digestBytes = { sha256: 32, sha512: 64 } as const;
const spellings = { hex: /^[0-9a-fA-F]+$/, base64: /^[A-Za-z0-9+/]+={0,2}$/, base64url: /^[A-Za-z0-9_-]+$/ } as const;

/**
 * The signature of a payload (RFC 2104): what `verifyHmac` accepts.
 *
 * @example
 * const scheme = { algorithm: 'sha256', encoding: 'hex' } as const;
 * context.upstream.setHeader('X-Signature', signHmac(scheme, secret, [timestamp, '.', body]));
 */
export function signHmac({ algorithm, encoding }: HmacScheme, secret: string, payload: HmacCheck['payload']): string {
  return digestOf(algorithm, secret, payload).toString(encoding);
}

/**
 * Whether one of the secrets made the signature. The time it takes depends on the lengths of payload and signature only, and on
 * the number of secrets. A signature of another length or spelling is never valid, and neither is an empty secret.
 *
 * @example
 * const isValid = verifyHmac({ ...scheme, secrets: config.secrets, signature: request.header('x-signature'), payload: body });
 * if (!isValid) return refuse(401, 'Invalid signature');
 */
export function verifyHmac({ algorithm, encoding, secrets, signature, payload }: HmacCheck): boolean {
  const length = digestBytes[algorithm];
  const given = signature === null ? null : decoded(signature, encoding, length);
  // An invalid signature costs as much as any other one.
  const compared = given ?? Buffer.alloc(length);
  let isValid = false;
  for (const secret of secrets) {
    const isEqual = timingSafeEqual(digestOf(algorithm, secret, payload), compared);
    if (isEqual && secret !== '') isValid = true;
  }
  return isValid && given !== null;
}

/**
 * Why a timestamp does not lie within `tolerance` seconds of now; null: it does. Sign the timestamp with the message, and refuse
 * what is too old: a recorded message is then valid for a moment only.
 *
 * @param text Seconds since the epoch as digits, as the client sent it; null: none.
 * @param now Milliseconds since the epoch. Default: the current time.
 *
 * @example
 * const problem = timestampProblem(request.header('x-timestamp'), 300);
 * if (problem !== null) return refuse(401, `The timestamp is ${problem}`);
 */
export function timestampProblem(
  text: string | null,
  tolerance: number,
  now: number = Date.now(),
): 'missing' | 'malformed' | 'too old' | 'in the future' | null {
  if (text === null) return 'missing';
  if (!/^[0-9]{1,12}$/.test(text)) return 'malformed';
  const age = now / 1000 - Number(text);
  if (age > tolerance) return 'too old';
  return age < -tolerance ? 'in the future' : null;
}

function digestOf(algorithm: HmacScheme['algorithm'], secret: string, payload: HmacCheck['payload']): Buffer {
  const hmac = createHmac(algorithm, secret);
  for (const piece of isPieces(payload) ? payload : [payload]) hmac.update(piece);
  return hmac.digest();
}

function isPieces(payload: HmacCheck['payload']): payload is readonly (string | Uint8Array)[] {
  return Array.isArray(payload);
}

/** Null for what is no spelling of a digest. Decoders of Node skip what they do not know. */
function decoded(text: string, encoding: HmacScheme['encoding'], length: number): Buffer | null {
  if (text.length > 2 * length || !spellings[encoding].test(text)) return null;
  const bytes = Buffer.from(text, encoding);
  return bytes.byteLength === length && bytes.toString(encoding).length === text.length ? bytes : null;
}
