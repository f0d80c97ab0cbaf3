import type { Row } from '../../../shared/entities/entity.ts';
import type { Change, FeedPosition, StoreErrorDetail } from '../../store/store.ts';

/**
 * The messages of the link: JSON texts, one in each WebSocket message. Both ends ignore types and members that they do not know, so a
 * newer version may add some. What an older end must not ignore needs a new protocol version.
 */

/** Versions of the protocol that this end speaks. */
export const protocolRange: ProtocolRange = { min: 1, max: 1 };

export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

/** Optional abilities of this end, by name; an end uses one only when both have it. */
export const features: readonly string[] = [];

export const linkPath = '/v1/sluicegate';

export interface Peer {
  /** UUID of the node. */
  readonly id: string;
  readonly hostname: string;
  readonly version: string;
}

/** From a data plane. */
export type ToControlPlane =
  /** The first message. `position`: of the config that it has. */
  | {
      readonly t: 'hello';
      readonly protocol: ProtocolRange;
      readonly features: readonly string[];
      readonly node: Peer;
      readonly labels: Readonly<Record<string, string>>;
      readonly position: FeedPosition | null;
    }
  | { readonly t: 'call'; readonly id: number; readonly method: string; readonly args: unknown }
  /** All of its workers have this version. */
  | { readonly t: 'synced'; readonly version: number }
  /** It needs the whole config. */
  | { readonly t: 'resend' };

/** From a control plane. */
export type ToDataPlane =
  /** Answer to `hello`. `now`: milliseconds since the epoch. */
  | {
      readonly t: 'welcome';
      readonly protocol: number;
      readonly features: readonly string[];
      readonly node: Peer;
      readonly now: number;
    }
  /** The connection closes. `retryAfter`: milliseconds; null: when the reason is gone. */
  | { readonly t: 'refused'; readonly reason: string; readonly retryAfter: number | null }
  /** The control plane stops: connect to another one, or again, within so many milliseconds. */
  | { readonly t: 'leave'; readonly within: number }
  /** Changes after the position that the data plane has. `position`: where they end; null: more of the same step follow. */
  | { readonly t: 'changes'; readonly changes: readonly Change[]; readonly position: FeedPosition | null }
  /** The whole config follows, in messages `rows`, up to `config`. */
  | { readonly t: 'begin' }
  | { readonly t: 'rows'; readonly entity: string; readonly rows: readonly Row[] }
  | { readonly t: 'config'; readonly position: FeedPosition; readonly rows: number }
  | { readonly t: 'result'; readonly id: number; readonly value: unknown }
  | { readonly t: 'failure'; readonly id: number; readonly error: WireError }
  /** A piece of a message that would be too large. */
  | { readonly t: 'part'; readonly text: string; readonly last: boolean };

/** `store`: a `StoreError`. `usage`: a `TypeError`. `failed`: another error, which the control plane has logged. */
export type WireError =
  | { readonly kind: 'store'; readonly detail: StoreErrorDetail; readonly message: string }
  | { readonly kind: 'usage' | 'failed'; readonly message: string };

/** Codes of WebSocket close frames (RFC 6455, 7.4.2: 4000 and above are for applications). */
export const closeCodes = { left: 4000, malformed: 4400, refused: 4403, slow: 4408 } as const;
