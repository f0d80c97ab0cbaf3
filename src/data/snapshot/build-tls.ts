import { createHash } from 'node:crypto';
import type { Row } from '../../shared/entities/entity.ts';
import { flag, foreignId, text, texts } from '../../shared/entities/row-fields.ts';
import type { UpstreamTls } from './runtime.ts';

/** Defaults where neither service nor upstream sets a value. PEM. */
export interface UpstreamTlsDefaults {
  /** Null: the built-in authorities. */
  readonly authorities: string | null;
  readonly clientCertificate: { readonly cert: string; readonly key: string } | null;
}

/** The inputs of a service's TLS in addition to its own row. */
export interface TlsSources {
  readonly defaults: UpstreamTlsDefaults;
  certificate(id: string): Row | undefined;
  authority(id: string): Row | undefined;
}

const tlsProtocols: ReadonlySet<string> = new Set(['https', 'grpcs', 'tls']);

/**
 * The TLS options for the service's backends; null for a protocol without TLS. The service's client certificate
 * overrides the upstream's. Throws when a required certificate is missing.
 */
export function buildTls(service: Row, upstreamCertificate: string | null, sources: TlsSources): UpstreamTls | null {
  if (!tlsProtocols.has(text(service, 'protocol') ?? '')) return null;
  const verify = flag(service, 'tls_verify', false);
  const depth = service['tls_verify_depth'];
  const client = clientCertificate(foreignId(service, 'client_certificate') ?? upstreamCertificate, sources);
  const { defaults } = sources;
  const own = client === null ? null : { cert: text(client, 'cert'), key: text(client, 'key') };
  const shown = own ?? defaults.clientCertificate ?? { cert: null, key: null };
  const parts = {
    verify,
    verifyDepth: verify && typeof depth === 'number' ? depth : null,
    ca: verify ? (authorities(texts(service, 'ca_certificates'), sources) ?? listOf(defaults.authorities)) : null,
    cert: shown.cert,
    key: shown.key,
  };
  return { identity: identityOf(parts), ...parts };
}

/** Every certificate or authority id that `buildTls` may read. */
export function tlsReferences(service: Row): readonly string[] {
  const client = foreignId(service, 'client_certificate');
  return [...(client === null ? [] : [client]), ...(texts(service, 'ca_certificates') ?? [])];
}

function clientCertificate(id: string | null, sources: TlsSources): Row | null {
  if (id === null) return null;
  const row = sources.certificate(id);
  if (row === undefined) throw new Error(`the client certificate ${id} is missing or broken`);
  return row;
}

function authorities(ids: readonly string[] | null, sources: TlsSources): readonly string[] | null {
  if (ids === null || ids.length === 0) return null;
  return ids.map((id) => {
    const row = sources.authority(id);
    const pem = row === undefined ? null : text(row, 'cert');
    if (pem === null) throw new Error(`the CA certificate ${id} is missing`);
    return pem;
  });
}

function listOf(text: string | null): readonly string[] | null {
  return text === null ? null : [text];
}

function identityOf(parts: Omit<UpstreamTls, 'identity'>): string {
  const plain = parts.ca === null && parts.cert === null && parts.verifyDepth === null;
  if (plain) return parts.verify ? 'verified' : 'unverified';
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
