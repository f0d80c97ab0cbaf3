import type { EntityRegistry } from '../../entities/registry.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Store } from '../../store/store.ts';
import { TrustedPeers } from '../../util/trusted-peers.ts';
import type { AdminLog } from '../admin-log.ts';
import type { Query } from '../http/query.ts';
import type { RequestBody } from '../http/request-body.ts';
import type { AuditTrail } from './audit-trail.ts';

/** Where records of writes go. */
export interface AuditLog {
  /** Null: no records are made. */
  readonly entities: EntityRegistry | null;
  /** Whose `X-Forwarded-For` is believed. */
  readonly trusted: TrustedPeers;
  /** Keeps a record of a request that succeeded, unless its transaction has done so. */
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
        // It has been done; that the store does not answer must not make it look undone.
        log.error(`no audit record could be kept: ${trail.summary}`, error);
      }
    },
  };
}

function argumentsOf(query: Query): Record<string, string> {
  return Object.fromEntries(query.keys().map((name) => [name, query.all(name).join(', ')]));
}
