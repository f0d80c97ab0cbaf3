import { type Certificate, keyUsages } from './certificate.ts';
import { booleanOf, childrenOf, type Der, derAt, derOf, expectTag, hexOf, rawOf, tags, timeOf } from './der.ts';
import { pointUris, readExtensions } from './extensions.ts';
import { isSigned } from './signatures.ts';

/** A list of revoked certificates (RFC 5280, 5). */
export interface Crl {
  /** DER of the issuer's name. */
  readonly issuer: Buffer;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  /** A newer list exists from then on; infinite when the list does not say. */
  readonly nextUpdate: number;
  /**
   * Serial numbers, in hexadecimal. The first call reads the entries, and throws when one is malformed. Check the signature
   * first: lists come over plain HTTP, and a forged one of 16 MB can take seconds to read.
   */
  revoked(): ReadonlySet<string>;
  readonly scope: CrlScope;
  readonly signed: { readonly element: Der; readonly algorithm: Der; readonly signature: Der };
}

/** Scope of the list (5.2.5); default: all certificates of its issuer. */
interface CrlScope {
  readonly onlyClients: boolean;
  readonly onlyAuthorities: boolean;
  /** Distribution point of the list; it covers only certificates with this point. Null: not specified. */
  readonly uris: readonly string[] | null;
}

const deltaIndicator = '2.5.29.27';
const issuingPoint = '2.5.29.28';
/** Extensions of entries that do not change their meaning: reason and date. */
const entryExtensions: ReadonlySet<string> = new Set(['2.5.29.21', '2.5.29.24']);
/** Allowed clock skew between gateway and authority, in milliseconds. */
const skew = 300_000;

/**
 * Reads everything except the entries. Throws when it is not a list, or one of an unsupported kind: delta, indirect, or for
 * some reasons only.
 */
export function readCrl(source: Buffer): Crl {
  const [element, algorithm, signature, more] = childrenOf(derOf(fromPem(source)));
  const list = expectTag(element, tags.sequence);
  const fields = [...childrenOf(list)];
  const next = (...wanted: readonly number[]): Der | undefined =>
    wanted.includes(fields[0]?.tag ?? 0) ? fields.shift() : undefined;
  // The version, which is absent in version 1.
  next(tags.integer);
  const named = expectTag(next(tags.sequence), tags.sequence);
  const issuer = expectTag(next(tags.sequence), tags.sequence);
  const thisUpdate = timeOf(next(tags.utcTime, tags.generalizedTime));
  const nextUpdate = next(tags.utcTime, tags.generalizedTime);
  const entries = next(tags.sequence);
  const scope = readScope(next(0xa0));
  if (fields.length > 0 || more !== undefined) throw new Error('the list has more fields than are known');
  // The algorithm is repeated outside of the signed part (RFC 5280, 5.1.1.2).
  if (!rawOf(named).equals(rawOf(expectTag(algorithm, tags.sequence)))) {
    throw new Error('the list names two algorithms');
  }
  return {
    issuer: rawOf(issuer),
    thisUpdate,
    nextUpdate: nextUpdate === undefined ? Number.POSITIVE_INFINITY : timeOf(nextUpdate),
    revoked: revokedBy(entries),
    scope,
    signed: {
      element: list,
      algorithm: expectTag(algorithm, tags.sequence),
      signature: expectTag(signature, tags.bitString),
    },
  };
}

/** Reads the entries once, even if they are malformed. */
function revokedBy(entries: Der | undefined): () => ReadonlySet<string> {
  let revoked: ReadonlySet<string> | null = null;
  let problem: unknown = null;
  return () => {
    if (problem !== null) throw problem;
    try {
      revoked ??= entries === undefined ? new Set() : readEntries(entries);
      return revoked;
    } catch (error) {
      problem = error;
      throw error;
    }
  };
}

/** Whether all entries are well-formed. */
export function isReadable(crl: Crl): boolean {
  try {
    crl.revoked();
    return true;
  } catch {
    return false;
  }
}

/** Whether the list covers this certificate, and comes from its issuer. `isClient`: it is the client's own. */
export function covers(crl: Crl, certificate: Certificate, issuer: Certificate, isClient: boolean): boolean {
  const { onlyClients, onlyAuthorities, uris } = crl.scope;
  if (!crl.issuer.equals(certificate.issuer) || !crl.issuer.equals(issuer.subject)) return false;
  if (isClient ? onlyAuthorities : onlyClients) return false;
  if (uris !== null && !uris.some((uri) => certificate.distributionPoints.includes(uri))) return false;
  return isSignedBy(crl, issuer);
}

/** Whether the list is current: issued before now, and its `nextUpdate` is in the future. */
export function isCurrent({ thisUpdate, nextUpdate }: Crl, now: number): boolean {
  return thisUpdate <= now + skew && now < nextUpdate;
}

const signers = new WeakMap<Crl, Map<string, boolean>>();

/** Checked once for each list and issuer. */
function isSignedBy(crl: Crl, { fingerprint, keyUsage, x509 }: Certificate): boolean {
  if (keyUsage !== null && !keyUsage.has(keyUsages.crlSign)) return false;
  const known = signers.get(crl) ?? new Map<string, boolean>();
  signers.set(crl, known);
  const before = known.get(fingerprint);
  if (before !== undefined) return before;
  const { element, algorithm, signature } = crl.signed;
  const signed = isSigned(element, algorithm, signature, x509.publicKey);
  // Few authorities share a name; more are an attack.
  if (known.size < 16) known.set(fingerprint, signed);
  return signed;
}

/** Lists may be long: 100,000 entries take about 70 ms. */
function readEntries(list: Der): ReadonlySet<string> {
  const revoked = new Set<string>();
  const { bytes } = list;
  for (let at = list.start; at < list.end; ) {
    const entry = expectTag(derAt(bytes, at, list.end), tags.sequence);
    const serial = derAt(bytes, entry.start, entry.end);
    const date = derAt(bytes, serial.end, entry.end);
    if (date.end < entry.end) checkEntry(derAt(bytes, date.end, entry.end));
    revoked.add(hexOf(serial));
    at = entry.end;
  }
  return revoked;
}

function checkEntry(extensions: Der): void {
  for (const [id, { critical }] of readExtensions(extensions)) {
    if (critical && !entryExtensions.has(id)) throw new Error(`an entry has the critical extension ${id}`);
  }
}

function readScope(wrapped: Der | undefined): CrlScope {
  const scope = { onlyClients: false, onlyAuthorities: false, uris: null };
  if (wrapped === undefined) return scope;
  const extensions = readExtensions(expectTag(childrenOf(wrapped)[0], tags.sequence));
  for (const [id, { critical }] of extensions) {
    if (id === deltaIndicator) throw new Error('the list is incremental');
    if (critical && id !== issuingPoint) throw new Error(`the list has the critical extension ${id}`);
  }
  const point = extensions.get(issuingPoint);
  return point === undefined ? scope : readPoint(point.value);
}

function readPoint(value: Buffer): CrlScope {
  const fields = new Map(childrenOf(derOf(value)).map((field) => [field.tag, field]));
  const isSet = (tag: number): boolean => {
    const field = fields.get(tag);
    return field !== undefined && booleanOf({ ...field, tag: tags.boolean });
  };
  if (fields.has(0x83) || fields.has(0xa3)) throw new Error('the list is for some reasons only');
  if (isSet(0x84)) throw new Error('the list is indirect');
  if (isSet(0x85)) throw new Error('the list is of attribute certificates');
  const name = fields.get(0xa0);
  return { onlyClients: isSet(0x81), onlyAuthorities: isSet(0x82), uris: name === undefined ? null : pointUris(name) };
}

const pem = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/;

function fromPem(source: Buffer): Buffer {
  if (source[0] === tags.sequence) return source;
  const [, base64] = pem.exec(source.toString('latin1')) ?? [];
  if (base64 === undefined) throw new Error('it is neither DER nor PEM of an X509 CRL');
  return Buffer.from(base64, 'base64');
}
