import { lowerName } from './header-edits.ts';

/** These say where a message ends and what becomes of the connection; the gateway writes them itself. */
export const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function isFraming(name: string): boolean {
  return framing.has(lowerName(name));
}

/** Throws when a plugin must not write this header. */
export function refuseFraming(name: string): void {
  if (isFraming(name)) throw new Error(`header ${name} is the gateway's own; a plugin cannot set it`);
}
