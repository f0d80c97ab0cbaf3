import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Row } from '../../shared/entities/entity.ts';
import { foreignId, text } from '../../shared/entities/row-fields.ts';
import type { RuntimeCertificate } from './runtime.ts';

/** Certificates by id and by their server names. */
export class CertificateTable {
  readonly #certificates = new Map<string, LiveCertificate>();
  readonly #byName = new Map<string, { readonly sni: string; readonly certificate: string }>();
  readonly #nameOf = new Map<string, string>();
  /** Ids of certificates with an OCSP response. */
  readonly #stapled = new Set<string>();
  /** Ids of certificates with a second certificate (`cert_alt`). */
  readonly #paired = new Set<string>();
  readonly #reusable: (row: Row) => LiveCertificate | null;

  /** `reusable`: a certificate that was built from the same row, with what was computed for it. */
  constructor(reusable: (row: Row) => LiveCertificate | null = () => null) {
    this.#reusable = reusable;
  }

  /** The certificate that was built from this row. */
  builtFrom(row: Row): LiveCertificate | null {
    const certificate = this.#certificates.get(row.id);
    return certificate?.stored === row ? certificate : null;
  }

  get choosesByKeyType(): boolean {
    return this.#paired.size > 0;
  }

  upsertCertificate(row: Row): void {
    this.removeCertificate(row.id);
    this.#certificates.set(row.id, this.#reusable(row) ?? new LiveCertificate(row));
    if (text(row, 'ocsp_response') !== null) this.#stapled.add(row.id);
    if (text(row, 'cert_alt') !== null) this.#paired.add(row.id);
  }

  removeCertificate(id: string): void {
    this.#certificates.delete(id);
    this.#stapled.delete(id);
    this.#paired.delete(id);
  }

  /** The OCSP response that is stored with this certificate (DER). */
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
    // Another SNI entity may own the name meanwhile.
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

export class LiveCertificate implements RuntimeCertificate {
  readonly id: string;
  readonly stored: Row;
  #first: SecureContext | null = null;
  #second: SecureContext | null = null;
  #secondIsEcdsa: boolean | null = null;
  #der: Uint8Array | null = null;

  constructor(row: Row) {
    this.id = row.id;
    this.stored = row;
  }

  /** Null also for a certificate that cannot be parsed. */
  ocspResponse(certificate: Uint8Array): Uint8Array | null {
    this.#der ??= derOf(text(this.stored, 'cert') ?? '');
    if (Buffer.compare(this.#der, certificate) !== 0) return null;
    return Buffer.from(text(this.stored, 'ocsp_response') ?? '', 'base64');
  }

  /**
   * Created at the first handshake: a thousand certificates would cost a second at start. Node shows one certificate of
   * a context.
   */
  secureContext(ecdsa: () => boolean): SecureContext {
    const second = text(this.stored, 'cert_alt');
    if (second !== null) {
      this.#secondIsEcdsa ??= new X509Certificate(second).publicKey.asymmetricKeyType === 'ec';
      if (ecdsa() === this.#secondIsEcdsa) {
        this.#second ??= createSecureContext({ cert: second, key: text(this.stored, 'key_alt') ?? '' });
        return this.#second;
      }
    }
    this.#first ??= createSecureContext({ cert: text(this.stored, 'cert') ?? '', key: text(this.stored, 'key') ?? '' });
    return this.#first;
  }
}

function derOf(pem: string): Uint8Array {
  try {
    return new X509Certificate(pem).raw;
  } catch {
    return new Uint8Array();
  }
}
