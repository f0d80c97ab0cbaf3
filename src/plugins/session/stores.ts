import { sealedCookie, sealer, sharedSecret } from '../../plugin-kit/auth/index.ts';
import type { CookieAttributes } from '../../plugin-kit/http/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import { type Lifetimes, lastExpiryOf } from './lifetimes.ts';
import type { SessionConfig } from './schema.ts';
import type { Session } from './session.ts';
import { CookieStore, type SessionStore } from './session-store.ts';
import { StoredSessions } from './stored-sessions.ts';
import { secretZone } from './zones.ts';

export interface Stores {
  readonly session: SessionStore;
  /** Null: sessions end with the browser. */
  readonly remember: SessionStore | null;
  /** When the last cookie of the session's login expires, in seconds since the epoch. */
  readonly lastExpiry: (session: Session) => number;
}

export function openStores(config: SessionConfig, tools: PluginTools): Stores {
  const secret = config.secret ?? sharedSecret(tools.zone(secretZone));
  const now = () => Math.floor(Date.now() / 1000);
  const purpose = `session\0${config.storage}\0${config.audience}`;
  const optionsOf = (name: string, lifetimes: Lifetimes, outlivesBrowser: boolean) => ({
    cookie: sealedCookie({ secret, purpose, name, attributes: attributesOf(config) }),
    lifetimes,
    outlivesBrowser,
    now,
    tooLarge: () => tools.log.warn('a session is too large for cookies', { cookie: name }),
  });
  const shorter = {
    idling: config.idling_timeout ?? 0,
    rolling: config.rolling_timeout ?? 0,
    absolute: config.absolute_timeout ?? 0,
  };
  const longer = {
    idling: 0,
    rolling: config.remember_rolling_timeout ?? 0,
    absolute: config.remember_absolute_timeout ?? 0,
  };
  const all = config.remember ? [shorter, longer] : [shorter];
  const lastExpiry = (session: Session) => lastExpiryOf(session, all, now());
  const name = config.cookie_name ?? 'session';
  const options = optionsOf(name, shorter, false);
  const rows = {
    tools,
    sealer: sealer(secret, `${purpose}\0${name}\0row`),
    staleTtl: config.stale_ttl ?? 0,
    maxPerCredential: config.sessions_per_credential ?? 0,
    lastExpiry,
  };
  return {
    session: config.storage === 'kong' ? new StoredSessions({ ...options, ...rows }) : new CookieStore(options),
    // Always stored in its cookie, so that a login leaves at most one row.
    remember: config.remember
      ? new CookieStore(optionsOf(config.remember_cookie_name ?? 'remember', longer, true))
      : null,
    lastExpiry,
  };
}

function attributesOf(config: SessionConfig): CookieAttributes {
  const { cookie_same_site: sameSite } = config;
  return {
    path: config.cookie_path ?? '/',
    domain: config.cookie_domain,
    sameSite: sameSite === 'Default' ? null : sameSite,
    httpOnly: config.cookie_http_only ?? true,
    secure: config.cookie_secure ?? true,
  };
}
