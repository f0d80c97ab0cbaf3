import type { DnsFacts } from '../../control/admin/contract.ts';
import { DnsClient } from '../../control/dns/client/dns-client.ts';
import { serverText } from '../../control/dns/client/servers.ts';
import { NameTable } from '../../control/dns/name-table.ts';
import type { NameState } from '../../control/dns/types.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { NameHealthLog } from './name-health-log.ts';

/** Name resolution of a node. */
export interface NodeDns {
  readonly table: NameTable;
  facts(): Promise<DnsFacts>;
  close(): void;
}

export interface NodeDnsOptions {
  readonly settings: Settings;
  readonly log: ErrorLog;
  readonly onChange: (name: string, state: NameState) => void;
  readonly onRemove: (name: string) => void;
}

export function createNodeDns({ settings: { dns }, log, onChange, onRemove }: NodeDnsOptions): NodeDns {
  const client = new DnsClient({ ...dns, size: dns.cacheSize });
  const health = new NameHealthLog(log);
  const table = new NameTable({
    ...dns,
    resolver: client,
    size: dns.cacheSize,
    onChange,
    onRemove(name) {
      health.remove(name);
      onRemove(name);
    },
    onHealth: (name, { error, stale }) => health.changed(name, error, stale),
  });
  return {
    table,
    facts: async () => ({
      servers: (await client.servers()).map(serverText),
      counts: countsOf(client, table),
      names: table.entries(),
      size: table.size,
    }),
    close() {
      table.close();
      client.close();
    },
  };
}

function countsOf({ counts: queries }: DnsClient, { counts: names }: NameTable): DnsFacts['counts'] {
  return {
    lookups: names.lookups,
    lookups_hit: names.hits,
    lookups_stale: names.stale,
    refreshes: names.refreshes,
    refreshes_failed: names.failures,
    changes: names.changes,
    queries: queries.queries,
    queries_failed: queries.failures,
    queries_timed_out: queries.timeouts,
    answers_truncated: queries.truncated,
    answers_foreign: queries.foreign,
  };
}
