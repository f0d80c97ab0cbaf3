import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import type { Certificate } from './certificate.ts';
import { type Crl, covers, isCurrent, isReadable, readCrl } from './crl.ts';
import { CrlSource } from './crl-source.ts';
import type { CertificatePath } from './path.ts';
import type { MtlsAuthConfig } from './schema.ts';

type Status = 'good' | 'revoked' | 'unknown';

interface Lookup {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The list is from an authority of the path. */
  isAuthentic(crl: Crl): boolean;
  /** The list says whether this certificate is revoked. */
  covers(crl: Crl): boolean;
}

/** Maximum distribution points of a certificate that are requested. */
const maxPoints = 4;

/** Looks certificates up in the configured lists, and in those of their distribution points. */
export class Revocation {
  readonly #config: MtlsAuthConfig;
  readonly #tools: PluginTools;
  readonly #configured: readonly (Crl | CrlSource)[];
  /** By URL. Only trusted authorities name URLs, so their number needs no limit. */
  readonly #named = new BoundedCache<string, CrlSource>(64);

  constructor(config: MtlsAuthConfig, tools: PluginTools) {
    this.#config = config;
    this.#tools = tools;
    this.#configured = (config.crls ?? []).map((text) =>
      text.startsWith('-----BEGIN') ? readCrl(Buffer.from(text)) : this.#source(text),
    );
  }

  /** The reason why the path is not trusted, or null. Checks every certificate below the authority at its end. */
  async problemOf({ certificates }: CertificatePath, now: number): Promise<string | null> {
    const { revocation_check_mode: mode } = this.#config;
    if (mode === 'SKIP') return null;
    const below = certificates.slice(0, -1);
    const coversAt = (crl: Crl, at: number): boolean => covers(crl, below[at]!, certificates[at + 1]!, at === 0);
    const isAuthentic = (crl: Crl): boolean => below.some((_, at) => coversAt(crl, at));
    // In parallel: unavailable servers cost one timeout in all.
    const statuses = await Promise.all(
      below.map((one, at) => this.#statusOf(one, { now, isAuthentic, covers: (crl) => coversAt(crl, at) })),
    );
    const revoked = statuses.indexOf('revoked');
    if (revoked >= 0) return revoked === 0 ? 'the certificate is revoked' : 'an authority is revoked';
    const isUnknown = mode === 'STRICT' && statuses.includes('unknown');
    return isUnknown ? 'it is not known whether a certificate is revoked' : null;
  }

  /** Configured lists first; then the certificate's own distribution points, if those do not cover it. */
  async #statusOf(certificate: Certificate, { now, isAuthentic, covers }: Lookup): Promise<Status> {
    for (const sources of [this.#configured, this.#namedBy(certificate)]) {
      const crls = await Promise.all(
        sources.map((source) => (source instanceof CrlSource ? source.current(now, isAuthentic) : source)),
      );
      const authentic = crls.filter((crl) => crl !== null && covers(crl) && isReadable(crl)) as readonly Crl[];
      // A revocation is final, even in an expired list.
      if (authentic.some((crl) => crl.revoked().has(certificate.serial))) return 'revoked';
      if (authentic.some((crl) => isCurrent(crl, now))) return 'good';
    }
    return 'unknown';
  }

  #namedBy({ distributionPoints }: Certificate): readonly CrlSource[] {
    const urls = distributionPoints.filter((uri) => /^https?:/i.test(uri) && URL.canParse(uri));
    return urls.slice(0, maxPoints).map((url) => this.#sourceAt(url));
  }

  #sourceAt(url: string): CrlSource {
    const source = this.#named.get(url) ?? this.#source(url);
    this.#named.set(url, source);
    return source;
  }

  #source(place: string): CrlSource {
    const { http_timeout: timeout, cert_cache_ttl: refresh } = this.#config;
    return new CrlSource({
      place,
      timeout: Math.max(1, timeout ?? 30_000),
      refresh: refresh ?? 60_000,
      tools: this.#tools,
    });
  }
}
