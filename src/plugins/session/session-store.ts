import type { SealedCookie } from '../../plugin-kit/auth/index.ts';
import type { RequestView } from '../../plugin-sdk/index.ts';
import { expiryOf, isOver, type Lifetimes } from './lifetimes.ts';
import { decodeSession, encodeSession, type Session } from './session.ts';

/** Where sessions are stored. The lines are values of `Set-Cookie`. */
export interface SessionStore {
  readonly lifetimes: Lifetimes;
  /** The valid session of the request, or null. */
  read(request: RequestView): Session | null | Promise<Session | null>;
  /** A session that `read` returned was accepted and continues. */
  admitted(session: Session): void;
  create(request: RequestView, session: Session): readonly string[];
  /** Stores that the session was used. */
  update(request: RequestView, session: Session): readonly string[];
  /** Replaces a session by its renewal. */
  replace(request: RequestView, before: Session, session: Session): readonly string[];
  /** Removes stored data of the session. Its login is already revoked. */
  destroy(session: Session): Promise<void>;
  clear(request: RequestView): readonly string[];
}

export interface StoreOptions {
  readonly cookie: SealedCookie;
  readonly lifetimes: Lifetimes;
  /** The browser keeps the cookie when it is closed. */
  readonly outlivesBrowser: boolean;
  /** Seconds since the epoch. */
  readonly now: () => number;
  readonly tooLarge: () => void;
}

/** The whole session is in the cookie. */
export class CookieStore implements SessionStore {
  readonly lifetimes: Lifetimes;
  readonly #options: StoreOptions;

  constructor(options: StoreOptions) {
    this.lifetimes = options.lifetimes;
    this.#options = options;
  }

  read(request: RequestView): Session | null {
    const { cookie, lifetimes, now } = this.#options;
    const content = cookie.read(request);
    const session = content === null ? null : decodeSession(content);
    return session === null || isOver(session, lifetimes, now()) ? null : session;
  }

  admitted(): void {}

  create(request: RequestView, session: Session): readonly string[] {
    return writeCookie(this.#options, request, encodeSession(session), session);
  }

  update(request: RequestView, session: Session): readonly string[] {
    return this.create(request, session);
  }

  replace(request: RequestView, _before: Session, session: Session): readonly string[] {
    return this.create(request, session);
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }

  clear(request: RequestView): readonly string[] {
    return this.#options.cookie.clear(request);
  }
}

/** A cookie with the content, valid as long as the session may last. */
export function writeCookie(
  { cookie, lifetimes, outlivesBrowser, now, tooLarge }: StoreOptions,
  request: RequestView,
  content: string,
  session: Session,
): readonly string[] {
  const expiresAt = expiryOf(session, lifetimes);
  const lines = cookie.write(request, content, expiresAt, outlivesBrowser ? expiresAt - now() : null);
  if (lines === null) tooLarge();
  return lines ?? [];
}
