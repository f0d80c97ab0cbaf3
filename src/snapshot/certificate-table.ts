import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Row } from '../entities/entity.ts';
import { foreignId, text } from './row-fields.ts';
import type { RuntimeCertificate } from './runtime.ts';

/** Certificates by id and by the server names they stand for. */
export class CertificateTable {
  readonly #certificates = new Map<string, LiveCertificate>();
  readonly #byName = new Map<string, { readonly sni: string; readonly certificate: string }>();
  readonly #nameOf = new Map<string, string>();
  /** Ids of certificates with an OCSP response. */
  readonly #stapled = new Set<string>();

  upsertCertificate(row: Row): void {
    this.removeCertificate(row.id);
    this.#certificates.set(row.id, new LiveCertificate(row));
    if (text(row, 'ocsp_response') !== null) this.#stapled.add(row.id);
  }

  removeCertificate(id: string): void {
    this.#certificates.delete(id);
    this.#stapled.delete(id);
  }

  /** The OCSP response that was given with this certificate (DER). */
  ocspResponse(certificate: Uint8Array): Uint8Array | null {
    for (const id of this.#stapled) {
      const found = this.#certificates.get(id)?.ocspResponse(certificate) ?? null;
      if (found !== null) return found;
    }
    return null;
  }

  certificateRow(id: string): Row | undefined {
    return this.#certificates.get(id)?.stored;
  }

  certificateIds(): Iterable<string> {
    return this.#certificates.keys();
  }

  upsertSni(row: Row): void {
    this.removeSni(row.id);
    const name = (text(row, 'name') ?? '').toLowerCase();
    this.#nameOf.set(row.id, name);
    this.#byName.set(name, { sni: row.id, certificate: foreignId(row, 'certificate') ?? '' });
  }

  removeSni(id: string): void {
    const name = this.#nameOf.get(id);
    if (name === undefined) return;
    this.#nameOf.delete(id);
    // Another SNI entity may have taken the name meanwhile.
    if (this.#byName.get(name)?.sni === id) this.#byName.delete(name);
  }

  sniIds(): Iterable<string> {
    return this.#nameOf.keys();
  }

  /** Exact name, then `*.suffix` from the longest, then `prefix.*` from the longest, then the catch-all `*`. */
  find(serverName: string): RuntimeCertificate | null {
    if (this.#byName.size === 0) return null;
    const labels = serverName.toLowerCase().replace(/\.$/, '').split('.');
    const exact = this.#named(labels.join('.'));
    if (exact !== null) return exact;
    for (let from = 1; from < labels.length; from++) {
      const found = this.#named(`*.${labels.slice(from).join('.')}`);
      if (found !== null) return found;
    }
    for (let to = labels.length - 1; to > 0; to--) {
      const found = this.#named(`${labels.slice(0, to).join('.')}.*`);
      if (found !== null) return found;
    }
    return this.#named('*');
  }

  #named(name: string): RuntimeCertificate | null {
    const entry = this.#byName.get(name);
    return entry === undefined ? null : (this.#certificates.get(entry.certificate) ?? null);
  }
}

class LiveCertificate implements RuntimeCertificate {
  readonly id: string;
  readonly stored: Row;
  #context: SecureContext | null = null;
  #der: Uint8Array | null = null;

  constructor(row: Row) {
    this.id = row.id;
    this.stored = row;
  }

  ocspResponse(certificate: Uint8Array): Uint8Array | null {
    this.#der ??= new X509Certificate(text(this.stored, 'cert') ?? '').raw;
    if (Buffer.compare(this.#der, certificate) !== 0) return null;
    return Buffer.from(text(this.stored, 'ocsp_response') ?? '', 'base64');
  }

  /** Made at the first handshake: a thousand certificates would cost a second at start. */
  secureContext(): SecureContext {
    this.#context ??= createSecureContext({
      cert: bothOf(this.stored, 'cert', 'cert_alt'),
      key: bothOf(this.stored, 'key', 'key_alt'),
    });
    return this.#context;
  }
}

function bothOf(row: Row, first: string, second: string): string[] {
  return [text(row, first), text(row, second)].filter((pem) => pem !== null);
}
