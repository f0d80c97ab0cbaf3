import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** What a client showed of itself in the TLS handshake. */
export type ClientCertificate =
  | { readonly kind: 'none' }
  /** Not signed by an authority of `admin_ssl_client_ca`, or expired. */
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The names in it, with their type: `CN:ops`, `DNS:ci.example`. */
  | { readonly kind: 'verified'; readonly names: readonly string[] };

const none: ClientCertificate = { kind: 'none' };

/** The certificate of a connection. `requested`: whether the listener requests one. */
export function clientCertificateOf(socket: Socket, requested: boolean): ClientCertificate {
  if (!requested || !('getPeerX509Certificate' in socket)) return none;
  const tls = socket as TLSSocket;
  const certificate = tls.getPeerX509Certificate();
  if (certificate === undefined) return none;
  if (!tls.authorized) return { kind: 'invalid', reason: String(tls.authorizationError ?? 'not verified') };
  return { kind: 'verified', names: namesOf(certificate) };
}

/** The common name and the alternative names of a certificate, each with its type. */
export function namesOf(certificate: X509Certificate): readonly string[] {
  return [...commonNames(certificate.subject), ...alternativeNames(certificate.subjectAltName ?? '')];
}

const usedTypes: ReadonlySet<string> = new Set(['DNS', 'URI', 'email']);

/** One line for each attribute. A certificate with several common names has none here. */
function commonNames(subject: string | undefined): readonly string[] {
  const names = (subject ?? '').split('\n').filter((line) => line.startsWith('CN='));
  return names.length === 1 ? [`CN:${(names[0] ?? '').slice(3)}`] : [];
}

/**
 * `DNS:a.example, URI:"a quoted, name"`. Node quotes names with special characters as JSON, so a comma within a name does not begin
 * another one.
 */
function alternativeNames(text: string): readonly string[] {
  const names: string[] = [];
  for (const [, type, quoted, plain] of text.matchAll(/([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^,"]*))(?:, |$)/gy)) {
    if (type === undefined || !usedTypes.has(type)) continue;
    const name = quoted === undefined ? plain : unquoted(quoted);
    if (name) names.push(`${type}:${name}`);
  }
  return names;
}

function unquoted(text: string): string | null {
  try {
    return String(JSON.parse(text));
  } catch {
    return null;
  }
}
