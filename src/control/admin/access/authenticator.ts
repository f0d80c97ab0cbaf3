import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { type AdminRole, adminRoles } from '../../../shared/entities/admin-users.ts';
import type { Row } from '../../../shared/entities/entity.ts';
import { foreignId, text, texts } from '../../../shared/entities/row-fields.ts';
import type { Settings } from '../../../shared/settings/settings.ts';
import { BoundedCache } from '../../../shared/util/bounded-cache.ts';
import { throttledLog } from '../../../shared/util/time/throttled-log.ts';
import type { Store } from '../../store/store.ts';
import { hashToken, isTokenShaped } from '../../users/admin-token.ts';
import type { AdminLog } from '../admin-log.ts';
import { showsToken, tokensIn } from '../http/bearer-token.ts';
import { HttpError } from '../http/http-error.ts';
import { anonymousCaller, type Caller, tokenCaller } from './caller.ts';
import type { ClientCertificate } from './client-certificate.ts';
import { KnownUsers } from './known-users.ts';
import { SignInLimiter } from './sign-in-limiter.ts';
import { unauthorized } from './unauthorized.ts';

/** What a request shows of its sender. */
export interface SignInRequest {
  readonly headers: IncomingHttpHeaders;
  readonly certificate: ClientCertificate;
  /** Address of the client. */
  readonly address: string;
}

/** Finds out who sends a request. */
export interface Authenticator {
  /**
   * Rejects with 400 for an invalid certificate, 401 without a valid token, 429 for an address that guesses, and with a `StoreError` when
   * the store is unavailable.
   */
  signIn(request: SignInRequest): Promise<Caller>;
  /** Whether every request must sign in. While that is unknown: true. */
  isRequired(): Promise<boolean>;
}

export interface AuthenticatorOptions {
  /** Read for each request: a reload can change the token. */
  readonly settings: () => Settings;
  readonly store: Store;
  readonly log: AdminLog;
}

/** Time between two lines of the error log on wrong tokens, in milliseconds. */
const refusalInterval = 10_000;
/** A use is noted once a minute at most. */
const minute = 60_000;

/**
 * Users and tokens are read from the store for each request, never from a cache: a token that was revoked on one node is refused by the
 * next request on every other, and while the store is unavailable only the token of the setting works.
 */
export function createAuthenticator({ settings, store, log }: AuthenticatorOptions): Authenticator {
  const warn = (message: string): void => log.warn(message, {});
  const users = new KnownUsers({ store, path: join(settings().prefix, 'admin-users.json'), warn });
  const limiter = new SignInLimiter();
  const uses = new BoundedCache<string, number>(10_000);
  const refused = throttledLog(refusalInterval, (peer, suppressed) =>
    log.warn('request to the Admin API without a valid token', { peer, suppressed }),
  );

  async function isRequired(): Promise<boolean> {
    const { adminToken, adminAuth } = settings();
    return adminToken !== null || adminAuth === 'on' || (await users.exist());
  }

  async function byToken(tokens: readonly string[], { headers, address }: SignInRequest): Promise<Caller> {
    const attempt = limiter.begin(address, createHash('sha256').update(tokens.join('\n')).digest('base64'));
    if (typeof attempt === 'number') throw tooManyAttempts(attempt);
    const { adminToken } = settings();
    let accepted: boolean | null = null;
    try {
      const caller =
        adminToken !== null && showsToken(headers, adminToken) ? tokenCaller : await userOfTokens(store, tokens);
      accepted = caller !== null;
      if (caller !== null) {
        noteUse(caller);
        return caller;
      }
    } finally {
      attempt.done(accepted);
    }
    refused(address);
    throw unauthorized();
  }

  function noteUse({ tokenId }: Caller): void {
    if (tokenId === null) return;
    const now = Math.floor(Date.now() / minute) * minute;
    if (uses.get(tokenId) === now) return;
    uses.set(tokenId, now);
    store
      .noteUse('admin_tokens', tokenId, 'last_used_at', new Date(now).toISOString())
      .catch((error: unknown) => log.error('the use of an admin token could not be noted', error));
  }

  return {
    isRequired,
    async signIn(request) {
      const { certificate, headers, address } = request;
      if (certificate.kind === 'invalid') {
        throw new HttpError(400, { message: `The client certificate is not accepted: ${certificate.reason}` });
      }
      const required = await isRequired();
      const tokens = tokensIn(headers);
      // Where nobody must sign in, a token is ignored, as in Kong.
      if (required && tokens.length > 0) return byToken(tokens, request);
      const user = certificate.kind === 'verified' ? await userOfCertificate(store, certificate.names) : null;
      if (user !== null) return user;
      if (!required) return anonymousCaller;
      refused(address);
      throw unauthorized();
    },
  };
}

/** The user of the first token that is known; null: none is. Expired tokens are not in the store's answers. */
async function userOfTokens(store: Store, tokens: readonly string[]): Promise<Caller | null> {
  for (const token of tokens) {
    if (!isTokenShaped(token)) continue;
    const hash = hashToken(token);
    const row = await store.findBy('admin_tokens', 'token_hash', hash);
    if (row === null || !isSame(text(row, 'token_hash') ?? '', hash)) continue;
    const user = await store.get('admin_users', foreignId(row, 'user') ?? '');
    if (user !== null) return callerOf(user, row);
  }
  return null;
}

/** Null when no user has one of the names, or two have. */
async function userOfCertificate(store: Store, names: readonly string[]): Promise<Caller | null> {
  const found = new Map<string, Row>();
  for (const name of names.slice(0, maxNames)) {
    const user = await store.findBy('admin_users', 'certificate_name', name);
    if (user !== null) found.set(user.id, user);
  }
  const [user, another] = found.values();
  return user === undefined || another !== undefined ? null : callerOf(user, null);
}

/** Names of one certificate that are looked up. */
const maxNames = 20;

function callerOf(user: Row, token: Row | null): Caller {
  const tokenId = token?.id ?? null;
  const name = text(user, 'name') ?? user.id;
  return {
    actor: { kind: 'user', name, user: user.id, ...(tokenId === null ? {} : { token: tokenId }) },
    role: roleOf(user),
    tagPatterns: texts(user, 'tag_patterns') ?? [],
    userId: user.id,
    tokenId,
    provesPage: tokenId !== null,
  };
}

function roleOf(user: Row): AdminRole {
  return adminRoles.find((role) => role === user['role']) ?? 'read';
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function tooManyAttempts(seconds: number): HttpError {
  const message = 'Too many requests with a wrong token from this address';
  return new HttpError(429, { message }, { 'retry-after': String(seconds) });
}
