import { BoundedCache, type PluginTools } from '../../plugin-sdk/index.ts';
import type { Certificate } from './certificate.ts';
import { type Crl, covers, isCurrent, readCrl } from './crl.ts';
import { CrlSource } from './crl-source.ts';
import type { CertificatePath } from './path.ts';
import type { MtlsAuthConfig } from './schema.ts';

type Status = 'good' | 'revoked' | 'unknown';

/** Distribution points of one certificate that are asked at most. */
const mostPoints = 4;

/** Looks certificates up in the lists of the configuration, and in those that they name themselves. */
export class Revocation {
  readonly #config: MtlsAuthConfig;
  readonly #tools: PluginTools;
  readonly #configured: readonly (Crl | CrlSource)[];
  /** By URL. Only certificates of trusted authorities come here, so their number is theirs to choose. */
  readonly #named = new BoundedCache<string, CrlSource>(64);

  constructor(config: MtlsAuthConfig, tools: PluginTools) {
    this.#config = config;
    this.#tools = tools;
    this.#configured = (config.crls ?? []).map((text) =>
      text.startsWith('-----BEGIN') ? readCrl(Buffer.from(text)) : this.#source(text),
    );
  }

  /** Why the path is not to be trusted, or null. Every certificate below the authority at its end is looked up. */
  async problemOf({ certificates }: CertificatePath, now: number): Promise<string | null> {
    const { revocation_check_mode: mode } = this.#config;
    if (mode === 'SKIP') return null;
    const below = certificates.slice(0, -1);
    // All at once: what does not answer is waited for one time only.
    const statuses = await Promise.all(
      below.map((one, at) => this.#statusOf(one, certificates[at + 1]!, at === 0, now)),
    );
    const revoked = statuses.indexOf('revoked');
    if (revoked >= 0) return revoked === 0 ? 'the certificate is revoked' : 'an authority is revoked';
    const isUnknown = mode === 'STRICT' && statuses.includes('unknown');
    return isUnknown ? 'it is not known whether a certificate is revoked' : null;
  }

  /** Lists of the configuration first; the certificate's own distribution points where those say nothing. */
  async #statusOf(certificate: Certificate, issuer: Certificate, isClient: boolean, now: number): Promise<Status> {
    const isAuthentic = (crl: Crl): boolean => covers(crl, certificate, issuer, isClient);
    for (const sources of [this.#configured, this.#namedBy(certificate)]) {
      const crls = await Promise.all(
        sources.map((source) => (source instanceof CrlSource ? source.current(now, isAuthentic) : source)),
      );
      const authentic = crls.filter((crl) => crl !== null && isAuthentic(crl)) as readonly Crl[];
      // What was revoked once stays so, also by a list that is out of date.
      if (authentic.some(({ revoked }) => revoked.has(certificate.serial))) return 'revoked';
      if (authentic.some((crl) => isCurrent(crl, now))) return 'good';
    }
    return 'unknown';
  }

  #namedBy({ distributionPoints }: Certificate): readonly CrlSource[] {
    const urls = distributionPoints.filter((uri) => /^https?:/i.test(uri) && URL.canParse(uri));
    return urls.slice(0, mostPoints).map((url) => this.#sourceAt(url));
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
