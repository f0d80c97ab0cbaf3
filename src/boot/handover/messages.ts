import type { ZoneChange } from '../../shared/zones/zone-transfer.ts';
import type { InheritedSocket } from '../listeners/inherited-sockets.ts';

/** Version of these messages. A process of another version cannot take over; increase it only when it has to. */
export const handoverFormat = 1;

/** Environment variable that holds the pid of the process that is replaced. Settings have other prefixes. */
export const predecessorVariable = 'UPGRADE_OF_PROCESS';

/** Milliseconds for each answer of the other process. */
export const answerTimeout = 10_000;

/** What was counted in a zone, by the key of the zone. */
export interface ZoneParcel {
  readonly key: string;
  /** Size of the zone. */
  readonly bytes: number;
  readonly change: ZoneChange;
}

/** An address that health checks have excluded. */
export interface UnhealthyAddress {
  readonly upstreamId: string;
  /** `10.0.0.1:80` */
  readonly address: string;
}

export interface Welcome {
  readonly type: 'welcome';
  readonly format: number;
  readonly version: string;
  readonly sockets: readonly InheritedSocket[];
  readonly debugToken: string | null;
  readonly ticketKeys: Uint8Array;
}

export interface Counters {
  readonly type: 'counters';
  /** `zoneFormat` */
  readonly format: number;
  readonly zones: readonly ZoneParcel[];
  readonly unhealthy: readonly UnhealthyAddress[];
  /** Zones that were too large. */
  readonly omitted: number;
}

/** From the process that is replaced. */
export type ToSuccessor =
  | Welcome
  | Counters
  | { readonly type: 'changes'; readonly zones: readonly ZoneParcel[] }
  /** The prefix is free: take it. */
  | { readonly type: 'take-over' }
  /** The Admin API of the old process is closed, and what it wrote is in the store. */
  | { readonly type: 'released' }
  /** The old process stops, or waits no longer: end. */
  | { readonly type: 'abandon' };

/** From the process that takes over. */
export type ToPredecessor =
  | { readonly type: 'get-counters' }
  | { readonly type: 'changes'; readonly zones: readonly ZoneParcel[] }
  /** Every listener accepts. */
  | { readonly type: 'ready' }
  /** It has the prefix. */
  | { readonly type: 'taken-over' }
  | { readonly type: 'failed'; readonly reason: string };

/** Maximum bytes of a welcome's text fields and number of its sockets: more is not sent by this program. */
const maxSockets = 4096;

export function isWelcome(value: unknown): value is Welcome {
  const { type, format, version, sockets, debugToken, ticketKeys } = fieldsOf(value);
  return (
    type === 'welcome' &&
    typeof format === 'number' &&
    typeof version === 'string' &&
    (debugToken === null || typeof debugToken === 'string') &&
    ticketKeys instanceof Uint8Array &&
    ticketKeys.byteLength === 48 &&
    Array.isArray(sockets) &&
    sockets.length <= maxSockets &&
    sockets.every(isSocket)
  );
}

export function isCounters(value: unknown): value is Counters {
  const { type, format, zones, unhealthy } = fieldsOf(value);
  return (
    type === 'counters' &&
    typeof format === 'number' &&
    areParcels(zones) &&
    Array.isArray(unhealthy) &&
    unhealthy.every((one) => {
      const { upstreamId, address } = fieldsOf(one);
      return typeof upstreamId === 'string' && typeof address === 'string';
    })
  );
}

export function areParcels(value: unknown): value is readonly ZoneParcel[] {
  return Array.isArray(value) && value.every(isParcel);
}

/** The content of `slots` is checked by `ZoneTransfer`. */
function isParcel(value: unknown): boolean {
  const { key, bytes, change } = fieldsOf(value);
  const { seed, content, slots } = fieldsOf(change);
  return (
    typeof key === 'string' &&
    Number.isSafeInteger(bytes) &&
    Array.isArray(seed) &&
    seed.length === 2 &&
    seed.every(Number.isInteger) &&
    Number.isInteger(content) &&
    slots instanceof Float64Array
  );
}

function isSocket(value: unknown): boolean {
  const { ip, port, udp, descriptor, reuseport, chosen, name } = fieldsOf(value);
  return (
    typeof ip === 'string' &&
    isInteger(port, 65_535) &&
    isInteger(descriptor, 2 ** 20) &&
    typeof udp === 'boolean' &&
    typeof reuseport === 'boolean' &&
    typeof chosen === 'boolean' &&
    typeof name === 'string'
  );
}

function isInteger(value: unknown, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
