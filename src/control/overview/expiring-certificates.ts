import { X509Certificate } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row } from '../../shared/entities/entity.ts';
import { foreignId } from '../../shared/entities/row-fields.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';

export type CertificateSource =
  | { readonly kind: 'certificates' | 'ca_certificates'; readonly id: string }
  /** A file or text of the settings, such as `ssl_cert`. */
  | { readonly kind: 'setting'; readonly name: string };

export interface ExpiringCertificate {
  readonly source: CertificateSource;
  /** Server names that show it, or the subject. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly tags: readonly string[];
}

export interface CertificateSetting {
  readonly name: string;
  /** One or more certificates; only the first counts. */
  readonly pem: string;
}

/** Milliseconds before the expiry from which a certificate is shown. */
export const expiryNotice = 30 * 86_400_000;
/** Milliseconds of parsing before the thread yields. */
const slice = 5;
const maxNames = 5;

interface Entry {
  readonly pems: readonly string[];
  readonly tags: readonly string[];
  /** Null: not parsed yet. */
  parsed: Parsed | null;
}

interface Parsed {
  readonly expires: number;
  readonly subject: string;
}

type Kind = 'certificates' | 'ca_certificates';
const kinds: readonly Kind[] = ['certificates', 'ca_certificates'];
const unreadable: Parsed = { expires: Number.POSITIVE_INFINITY, subject: '' };

/** The certificates of the config and of the settings that expire soon. They are parsed when somebody asks, each once. */
export class ExpiringCertificates {
  readonly #settings: () => readonly CertificateSetting[];
  readonly #entries: Readonly<Record<Kind, Map<string, Entry>>> = {
    certificates: new Map(),
    ca_certificates: new Map(),
  };
  /** SNIs: the certificate and the name. */
  readonly #snis = new Map<string, { readonly certificate: string; readonly name: string }>();
  #ofSettings = new Map<string, Parsed>();

  constructor(settings: () => readonly CertificateSetting[]) {
    this.#settings = settings;
  }

  configChanged({ full, upserts, removes }: SnapshotDelta): void {
    for (const kind of kinds) {
      const entries = this.#entries[kind];
      if (full) entries.clear();
      for (const id of removes[kind] ?? []) entries.delete(id);
      for (const row of upserts[kind] ?? []) entries.set(row.id, entryOf(row));
    }
    if (full) this.#snis.clear();
    for (const id of removes.snis ?? []) this.#snis.delete(id);
    for (const row of upserts.snis ?? []) {
      this.#snis.set(row.id, { certificate: foreignId(row, 'certificate') ?? '', name: String(row['name']) });
    }
  }

  /** Those that have expired or will within `expiryNotice`, the first to expire first. */
  async list(now = Date.now()): Promise<readonly ExpiringCertificate[]> {
    const until = now + expiryNotice;
    const found: ExpiringCertificate[] = this.#listSettings(until);
    let begun = performance.now();
    for (const kind of kinds) {
      for (const [id, entry] of this.#entries[kind]) {
        if (entry.parsed === null && performance.now() - begun > slice) {
          await nextTurn();
          begun = performance.now();
        }
        entry.parsed ??= parsedOf(entry.pems);
        const { expires, subject } = entry.parsed;
        if (expires >= until) continue;
        const names = kind === 'certificates' ? this.#namesOf(id) : [];
        found.push({ source: { kind, id }, names: names.length > 0 ? names : [subject], expires, tags: entry.tags });
      }
    }
    return found.sort((a, b) => a.expires - b.expires);
  }

  #listSettings(until: number): ExpiringCertificate[] {
    const parsed = new Map<string, Parsed>();
    const found: ExpiringCertificate[] = [];
    for (const { name, pem } of this.#settings()) {
      const known = this.#ofSettings.get(pem) ?? parsedOf([pem]);
      parsed.set(pem, known);
      const { expires, subject } = known;
      if (expires < until) found.push({ source: { kind: 'setting', name }, names: [subject], expires, tags: [] });
    }
    this.#ofSettings = parsed;
    return found;
  }

  #namesOf(certificate: string): readonly string[] {
    const names: string[] = [];
    for (const sni of this.#snis.values()) {
      if (sni.certificate === certificate && names.push(sni.name) === maxNames) break;
    }
    return names;
  }
}

function entryOf(row: Row): Entry {
  const pems = [row['cert'], row['cert_alt']].filter((pem) => typeof pem === 'string');
  const tags = Array.isArray(row['tags']) ? row['tags'].map(String) : [];
  return { pems, tags, parsed: null };
}

/** A reference to a vault cannot be read here: it never expires. */
function parsedOf(pems: readonly string[]): Parsed {
  let first = unreadable;
  for (const pem of pems) {
    try {
      const certificate = new X509Certificate(pem);
      const expires = certificate.validToDate.getTime();
      if (expires < first.expires) first = { expires, subject: certificate.subject.replaceAll('\n', ', ') };
    } catch {
      // Workers report it.
    }
  }
  return first;
}
