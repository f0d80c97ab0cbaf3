import { addressOf, type RedisEndpoint } from './connect.ts';
import { slotCount } from './key-slot.ts';

/** The address of the master of each slot; undefined: no node has it. */
export type SlotMap = (string | undefined)[];

/**
 * Reads the answer to `CLUSTER SLOTS`: [first, last, [host, port, ...], replicas...] for each range. A node that does not
 * know its own host gives none: then it is that of the node that answered.
 *
 * @throws Error if no slot has a node.
 */
export function slotMapOf(answer: unknown, answered: RedisEndpoint): SlotMap {
  const slots: SlotMap = new Array(slotCount).fill(undefined);
  for (const range of Array.isArray(answer) ? answer : []) {
    const [first, last, master] = range as readonly unknown[];
    if (!Array.isArray(master)) continue;
    const [host, port] = master;
    const known = typeof host === 'string' && host !== '' && host !== '?';
    slots.fill(addressOf({ host: known ? host : answered.host, port: Number(port) }), Number(first), Number(last) + 1);
  }
  if (slots.every((address) => address === undefined)) throw new Error('its cluster has no slots');
  return slots;
}

/** Where a node sends its client. */
export interface Redirection {
  readonly kind: 'MOVED' | 'ASK';
  readonly to: RedisEndpoint;
}

/** Reads `MOVED 3999 10.0.0.1:6381`; null: another error. Without a host it is that of the node that answered. */
export function redirectionOf(message: string, answered: RedisEndpoint): Redirection | null {
  const match = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(message);
  if (match === null) return null;
  const host = match[2] === '' || match[2] === '?' ? answered.host : (match[2] as string);
  return { kind: match[1] as Redirection['kind'], to: { host, port: Number(match[3]) } };
}
