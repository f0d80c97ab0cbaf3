import type { LogLevel } from '../settings/settings.ts';

/** Kong's log levels in order; the numbers are pino's where pino has the level. */
export const severities: Readonly<Record<LogLevel, number>> = Object.freeze({
  debug: 20,
  info: 30,
  notice: 35,
  warn: 40,
  error: 50,
  crit: 60,
  alert: 70,
  emerg: 80,
});
