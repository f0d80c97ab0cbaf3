import { framingHeaders } from '../plugin-sdk/header-names.ts';
import { lowerName } from './header-edits.ts';

/** The same as `isFramingHeader`, for names that come with every request. Throws when it is not a header name. */
export function isFraming(name: string): boolean {
  const lower = lowerName(name);
  return framingHeaders.has(lower.includes('_') ? lower.replaceAll('_', '-') : lower);
}

/** Throws when a plugin must not write this header. */
export function refuseFraming(name: string): void {
  if (isFraming(name)) throw new Error(`header ${name} is the gateway's own; a plugin cannot set it`);
}
