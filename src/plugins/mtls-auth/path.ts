import { type Certificate, keyUsages } from './certificate.ts';

/** An authority that the configuration names. */
export interface Authority {
  readonly id: string;
  readonly certificate: Certificate;
}

/** A path from the client's certificate (first) to a trusted authority (last). */
export interface CertificatePath {
  readonly certificates: readonly Certificate[];
  /** Ids of the configured authorities in it. */
  readonly authorities: readonly string[];
}

export interface PathOptions {
  readonly authorities: readonly Authority[];
  /** A configured authority is trusted even when it is not self-signed. */
  readonly allowPartial: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';
const maxPath = 10;
/** Maximum signatures that are checked for one client, so that a crafted set of certificates costs no more. */
const maxSignatures = 24;

interface Search extends PathOptions {
  readonly candidates: readonly Candidate[];
  signatures: number;
}

interface Candidate {
  readonly certificate: Certificate;
  /** Null: the client sent it. */
  readonly authority: Authority | null;
}

/**
 * Checks the certificates of a client (RFC 5280, 6.1): each one is signed by the next, currently valid, and allowed to be used
 * in its position, up to an authority of the configuration. A string is the reason why there is no such path.
 */
export function findPath(chain: readonly Certificate[], options: PathOptions): CertificatePath | string {
  const [own, ...sent] = chain;
  if (own === undefined) return 'there is no certificate';
  const problem = clientProblem(own, options.now);
  if (problem !== null) return problem;
  const known = new Set(options.authorities.map(({ certificate }) => certificate.fingerprint));
  const candidates: Candidate[] = [
    ...options.authorities.map((authority) => ({ certificate: authority.certificate, authority })),
    ...sent
      .filter(({ fingerprint }) => !known.has(fingerprint))
      .map((certificate) => ({ certificate, authority: null })),
  ];
  const path = extend([{ certificate: own, authority: null }], { ...options, candidates, signatures: 0 });
  if (path === null) return 'no valid path leads to a trusted authority';
  return {
    certificates: path.map(({ certificate }) => certificate),
    authorities: path.flatMap(({ authority }) => (authority === null ? [] : [authority.id])),
  };
}

/** Depth first; authorities of the configuration before the client's certificates. */
function extend(path: readonly Candidate[], search: Search): readonly Candidate[] | null {
  const last = path.at(-1)!;
  for (const candidate of search.candidates) {
    if (path.includes(candidate) || !mayIssue(candidate.certificate, path, search)) continue;
    if (++search.signatures > maxSignatures) return null;
    if (!last.certificate.x509.verify(candidate.certificate.x509.publicKey)) continue;
    const longer = [...path, candidate];
    if (candidate.authority !== null && (search.allowPartial || isSelfSigned(candidate.certificate))) return longer;
    const found = longer.length < maxPath ? extend(longer, search) : null;
    if (found !== null) return found;
  }
  return null;
}

function mayIssue(issuer: Certificate, path: readonly Candidate[], { now }: Search): boolean {
  const { certificate } = path.at(-1)!;
  // OpenSSL also compares key identifiers, and checks that the issuer's key may sign certificates.
  if (!issuer.subject.equals(certificate.issuer) || !certificate.x509.checkIssued(issuer.x509)) return false;
  // The self-signature of a trusted authority does not matter.
  if (!certificate.strongSignature || !issuer.strongKey) return false;
  if (!issuer.isAuthority || issuer.notUnderstood !== null || !isValidAt(issuer, now)) return false;
  if (!allowsClients(issuer)) return false;
  // Self-issued ones do not count (RFC 5280, 4.2.1.9), nor does the client's own.
  const below = path.slice(1).filter((one) => !one.certificate.subject.equals(one.certificate.issuer)).length;
  return below <= issuer.pathLength;
}

function clientProblem(own: Certificate, now: number): string | null {
  if (!isValidAt(own, now)) return 'the certificate is not valid at this time';
  if (own.notUnderstood !== null) return own.notUnderstood;
  if (!own.strongSignature || !own.strongKey) return 'the certificate has a weak signature or key';
  if (!allowsClients(own)) return 'the certificate is not for the authentication of clients';
  const { keyUsage } = own;
  if (keyUsage !== null && !keyUsage.has(keyUsages.digitalSignature) && !keyUsage.has(keyUsages.keyAgreement)) {
    return 'the key of the certificate is not for authentication';
  }
  return null;
}

function allowsClients({ extendedKeyUsage: usage }: Certificate): boolean {
  return usage === null || usage.has(clientAuth) || usage.has(anyUsage);
}

function isValidAt({ notBefore, notAfter }: Certificate, now: number): boolean {
  return notBefore <= now && now <= notAfter;
}

function isSelfSigned({ subject, issuer, x509 }: Certificate): boolean {
  return subject.equals(issuer) && x509.verify(x509.publicKey);
}
