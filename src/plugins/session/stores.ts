import { type CookieAttributes, type PluginTools, sealedCookie, sealer, sharedSecret } from '../../plugin-sdk/index.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { SessionConfig } from './schema.ts';
import { CookieStore, type SessionStore } from './session-store.ts';
import { StoredSessions } from './stored-sessions.ts';

export interface Stores {
  readonly session: SessionStore;
  /** Null when sessions end with the browser. */
  readonly remember: SessionStore | null;
}

export function openStores(config: SessionConfig, tools: PluginTools): Stores {
  const secret = config.secret ?? sharedSecret(tools.zone('secret'));
  const open = (name: string, lifetimes: Lifetimes, outlivesBrowser: boolean): SessionStore => {
    const purpose = `session\0${config.storage}\0${config.audience}`;
    const options = {
      cookie: sealedCookie({ secret, purpose, name, attributes: attributesOf(config) }),
      lifetimes,
      outlivesBrowser,
      now: () => Math.floor(Date.now() / 1000),
      tooLarge: () => tools.log.warn('a session is too large for cookies', { cookie: name }),
    };
    if (config.storage !== 'kong') return new CookieStore(options);
    const rows = sealer(secret, `${purpose}\0${name}\0row`);
    return new StoredSessions({ ...options, tools, sealer: rows, staleTtl: config.stale_ttl ?? 0 });
  };
  const lifetimes = {
    idling: config.idling_timeout ?? 0,
    rolling: config.rolling_timeout ?? 0,
    absolute: config.absolute_timeout ?? 0,
  };
  const longer = {
    idling: 0,
    rolling: config.remember_rolling_timeout ?? 0,
    absolute: config.remember_absolute_timeout ?? 0,
  };
  return {
    session: open(config.cookie_name ?? 'session', lifetimes, false),
    remember: config.remember ? open(config.remember_cookie_name ?? 'remember', longer, true) : null,
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
