import { type Lifetimes, secondsLeft, shortest } from './lifetimes.ts';
import type { SessionConfig } from './schema.ts';
import type { Session } from './session.ts';

type Shown = NonNullable<SessionConfig['response_headers']>[number];

const names: Readonly<Record<Shown, string>> = {
  id: 'Session-Id',
  audience: 'Session-Audience',
  subject: 'Session-Subject',
  timeout: 'Session-Timeout',
  'idling-timeout': 'Session-Idling-Timeout',
  'rolling-timeout': 'Session-Rolling-Timeout',
  'absolute-timeout': 'Session-Absolute-Timeout',
};

/** Headers with details of the session; null: the header is not set. Timeouts are the remaining seconds. */
export function sessionHeaders(
  shown: readonly Shown[],
  audience: string,
  session: Session | null,
  lifetimes: Lifetimes,
  now: number,
): readonly (readonly [string, string | null])[] {
  if (session === null) return shown.map((what) => [names[what], null]);
  const left = secondsLeft(session, lifetimes, now);
  const values: Readonly<Record<Shown, string | number | null>> = {
    id: session.id,
    audience: Buffer.from(audience, 'utf8').toString('latin1'),
    subject: session.consumerId,
    timeout: shortest(left),
    'idling-timeout': left.idling,
    'rolling-timeout': left.rolling,
    'absolute-timeout': left.absolute,
  };
  return shown.map((what) => [names[what], text(values[what])]);
}

function text(value: string | number | null): string | null {
  if (typeof value !== 'number') return value;
  return Number.isFinite(value) ? String(Math.max(0, Math.floor(value))) : null;
}
