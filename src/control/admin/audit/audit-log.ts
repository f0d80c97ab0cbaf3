import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { Settings } from '../../../shared/settings/settings.ts';
import { TrustedPeers } from '../../../shared/util/net/trusted-peers.ts';
import type { Store } from '../../store/store.ts';
import type { AdminLog } from '../admin-log.ts';
import type { Query } from '../http/query.ts';
import type { RequestBody } from '../http/request-body.ts';
import type { AuditTrail } from './audit-trail.ts';

/** Stores records of writes. */
export interface AuditLog {
  /** Null: no records are made. */
  readonly entities: EntityRegistry | null;
  /** Peers whose `X-Forwarded-For` is trusted. */
  readonly trusted: TrustedPeers;
  /** Stores a record of a request that succeeded, unless its transaction has done so. */
  afterwards(trail: AuditTrail, query: Query, body: RequestBody): Promise<void>;
}

export interface AuditLogOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly log: AdminLog;
}

export function createAuditLog({ settings, store, entities, log }: AuditLogOptions): AuditLog {
  const { enabled } = settings.audit;
  return {
    entities: enabled ? entities : null,
    trusted: new TrustedPeers(settings.trustedIps),
    async afterwards(trail, query, body) {
      if (trail.settled || !enabled) return;
      const details = { query: argumentsOf(query), fields: Object.keys(body.value) };
      try {
        await store.write((writer) => trail.recordAction(writer, details));
      } catch (error) {
        // The action succeeded, so an unavailable store must not turn the answer into an error.
        log.error(`the audit record could not be stored: ${trail.summary}`, error);
      }
    },
  };
}

function argumentsOf(query: Query): Record<string, string> {
  return Object.fromEntries(query.keys().map((name) => [name, query.all(name).join(', ')]));
}
