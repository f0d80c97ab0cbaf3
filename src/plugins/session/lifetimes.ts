import type { Session } from './session.ts';

/** In seconds; 0: no limit. */
export interface Lifetimes {
  readonly idling: number;
  readonly rolling: number;
  readonly absolute: number;
}

/** Means "never": cookies and rows need an expiry time. */
const never = 315_360_000;
/** The time of the last use is stored at most this often, in seconds. */
const maxUnwritten = 60;

export function expiryOf(session: Session, lifetimes: Lifetimes): number {
  return session.usedAt + Math.min(never, shortest(secondsLeft(session, lifetimes, session.usedAt)));
}

/** Seconds within which a request admitted before the revocation may still renew its cookie. */
const maxRequestSize = 3600;

/** When the last copy of a cookie of this login expires, including all renewals so far. */
export function lastExpiryOf(session: Session, lifetimes: readonly Lifetimes[], now: number): number {
  const used = { ...session, createdAt: now, renewedAt: now, usedAt: now };
  return Math.max(...lifetimes.map((one) => expiryOf(used, one))) + maxRequestSize;
}

export function isOver(session: Session, lifetimes: Lifetimes, now: number): boolean {
  if (session.staleAt !== null && session.staleAt <= now) return true;
  return shortest(secondsLeft(session, lifetimes, now)) <= 0;
}

/**
 * What to do when a session is used: one with less than a quarter of its rolling time left gets a new id; for others the
 * time of the use is stored at intervals, so that they do not become idle.
 */
export function dueWork(session: Session, lifetimes: Lifetimes, now: number): 'renew' | 'use' | null {
  if (session.staleAt !== null) return null;
  const { rolling, idling } = lifetimes;
  if (rolling > 0 && secondsLeft(session, lifetimes, now).rolling < rolling / 4) return 'renew';
  return idling > 0 && now - session.usedAt >= Math.min(maxUnwritten, idling / 4) ? 'use' : null;
}

/** Infinity if there is no limit. */
export function secondsLeft(session: Session, { idling, rolling, absolute }: Lifetimes, now: number): Lifetimes {
  const left = (since: number, lifetime: number) => (lifetime > 0 ? since + lifetime - now : Number.POSITIVE_INFINITY);
  return {
    idling: left(session.usedAt, idling),
    rolling: left(session.renewedAt, rolling),
    absolute: left(session.createdAt, absolute),
  };
}

export function shortest({ idling, rolling, absolute }: Lifetimes): number {
  return Math.min(idling, rolling, absolute);
}
