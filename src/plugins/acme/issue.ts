import { createHash, createHmac, type JsonWebKey, X509Certificate } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AcmeProblem, problemIn, shortText } from './acme-problem.ts';
import { type AcmeResponse, type AcmeServer, base64url, publicJwk, type Signer } from './acme-server.ts';
import { certificateRequest, challengeCertificate, type KeyKind, newKeyPair, privatePem } from './certificates.ts';

export type ChallengeType = 'http-01' | 'tls-alpn-01';

/** What the authority fetches while it validates a host. */
export interface PublishedChallenge {
  readonly type: ChallengeType;
  readonly host: string;
  readonly token: string;
  /** The body for `http-01`; key and certificate (PEM) for `tls-alpn-01`. */
  readonly answer: string;
}

export interface Registration {
  readonly email: string;
  readonly termsAgreed: boolean;
  /** An existing account with the authority (external account binding, RFC 8555, 7.3.4). */
  readonly binding: { readonly kid: string; readonly hmacKey: string } | null;
}

export interface IssueOptions {
  readonly server: AcmeServer;
  readonly account: Signer;
  readonly host: string;
  readonly challengeType: ChallengeType;
  readonly keys: KeyKind;
  /** Common name of the issuer at the top of the preferred chain; null: the first chain. */
  readonly preferredChain: string | null;
  /** Publishes the challenge on all nodes. Resolves, when all of them have it, with a function that removes it. */
  readonly publish: (challenge: PublishedChallenge) => Promise<() => Promise<void>>;
  readonly signal: AbortSignal;
}

export interface IssuedCertificate {
  /** The chain in PEM, beginning with the certificate of the host. */
  readonly cert: string;
  readonly key: string;
}

const firstPollInterval = 250;
const maxPollInterval = 5000;
const maxAlternates = 4;

/** Creates the account, or finds the one of the key (RFC 8555, 7.3); returns its URL. */
export async function register(server: AcmeServer, key: JsonWebKey, registration: Registration): Promise<string> {
  const { newAccount } = await server.directory();
  const { email, termsAgreed, binding } = registration;
  const payload = {
    contact: [`mailto:${email}`],
    ...(termsAgreed ? { termsOfServiceAgreed: true } : {}),
    ...(binding === null ? {} : { externalAccountBinding: externalAccountBindingOf(newAccount, key, binding) }),
  };
  const { location } = await server.post(newAccount, payload, { key, url: null });
  if (location === null) throw new AcmeProblem('malformed', 'the account has no URL');
  return location;
}

/** Orders a certificate, validates the host and downloads the certificate (RFC 8555, 7.4). */
export async function issueCertificate(options: IssueOptions): Promise<IssuedCertificate> {
  const { server, account, host, keys, signal } = options;
  const { newOrder } = await server.directory();
  const order = await server.post(newOrder, { identifiers: [{ type: 'dns', value: host }] }, account);
  if (order.location === null) throw new AcmeProblem('malformed', 'the order has no URL');
  for (const url of texts(order.json['authorizations'])) await validate(url, options);
  const ready = await pollStatus(options, order.location, ['ready', 'valid']);
  const pair = await newKeyPair(keys);
  signal.throwIfAborted();
  const csr = certificateRequest(host, pair).toString('base64url');
  await server.post(textOf(ready.json['finalize'], 'finalize'), { csr }, account);
  const done = await pollStatus(options, order.location, ['valid']);
  const cert = await download(textOf(done.json['certificate'], 'certificate'), options);
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(pair.privateKey) || leaf.checkHost(host) === undefined) {
    throw new AcmeProblem('malformed', 'the certificate is not the requested one');
  }
  return { cert, key: privatePem(pair.privateKey) };
}

async function validate(url: string, options: IssueOptions): Promise<void> {
  const { server, account, challengeType, host, publish } = options;
  const { json: authorization } = await server.post(url, null, account);
  // Validated for an earlier order, and still valid.
  if (authorization['status'] === 'valid') return;
  const challenge = records(authorization['challenges']).find(({ type }) => type === challengeType);
  if (challenge === undefined) throw new AcmeProblem('unsupported', `${challengeType} is not offered for ${host}`);
  const token = textOf(challenge['token'], 'token');
  if (!/^[A-Za-z0-9_-]{1,512}$/.test(token)) throw new AcmeProblem('malformed', 'the token is not base64url');
  const keyAuthorization = `${token}.${thumbprint(account.key)}`;
  const answer = challengeType === 'http-01' ? keyAuthorization : await challengeCertificate(host, keyAuthorization);
  const unpublish = await publish({ type: challengeType, host, token, answer });
  try {
    await server.post(textOf(challenge['url'], 'url'), {}, account);
    await pollStatus(options, url, ['valid']);
  } finally {
    await unpublish();
  }
}

/** Polls until the order or authorization has one of these statuses. */
async function pollStatus({ server, account, signal }: IssueOptions, url: string, wanted: readonly string[]) {
  for (let interval = firstPollInterval; ; interval = Math.min(interval * 2, maxPollInterval)) {
    const answer = await server.post(url, null, account);
    const { status } = answer.json;
    if (wanted.includes(String(status))) return answer;
    if (status !== 'pending' && status !== 'processing' && status !== 'ready') throw failureOf(answer);
    const delay = answer.retryAfter === null ? interval : Math.min(answer.retryAfter * 1000, maxPollInterval);
    await wait(delay, undefined, { signal });
  }
}

/** The reason is in the order, or in the failed challenge. */
function failureOf({ json }: AcmeResponse): AcmeProblem {
  const failed = records(json['challenges']).find(({ error }) => error !== undefined);
  return problemIn(failed?.['error'] ?? json['error'], `its status is ${shortText(String(json['status']))}`);
}

async function download(url: string, { server, account, preferredChain }: IssueOptions): Promise<string> {
  const first = await server.post(url, null, account);
  const chain = chainOf(first.body);
  if (preferredChain === null || topIssuer(chain) === preferredChain) return chain;
  for (const other of first.alternates.slice(0, maxAlternates)) {
    const offered = chainOf((await server.post(other, null, account)).body);
    if (topIssuer(offered) === preferredChain) return offered;
  }
  return chain;
}

/** Only the certificates of a PEM text. */
function chainOf(text: string): string {
  const found = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new AcmeProblem('malformed', 'the answer holds no certificate');
  return found.map((pem) => new X509Certificate(pem).toString()).join('');
}

function topIssuer(chain: string): string | null {
  const last = chain.lastIndexOf('-----BEGIN');
  return /^CN=(.*)$/m.exec(new X509Certificate(chain.slice(last)).issuer)?.[1] ?? null;
}

/** RFC 7638 */
function thumbprint(key: JsonWebKey): string {
  return createHash('sha256')
    .update(JSON.stringify(publicJwk(key)))
    .digest('base64url');
}

function externalAccountBindingOf(
  url: string,
  key: JsonWebKey,
  { kid, hmacKey }: NonNullable<Registration['binding']>,
): object {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid, url }));
  const payload = base64url(JSON.stringify(publicJwk(key)));
  const mac = createHmac('sha256', Buffer.from(hmacKey, 'base64url')).update(`${header}.${payload}`);
  return { protected: header, payload, signature: mac.digest('base64url') };
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new AcmeProblem('malformed', `the answer has no ${name}`);
  return value;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}
