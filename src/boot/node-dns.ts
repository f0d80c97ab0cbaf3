import { DnsClient } from '../dns/dns-client.ts';
import { NameTable } from '../dns/name-table.ts';
import type { NameState } from '../dns/types.ts';
import type { ErrorLog } from '../observability/error-log.ts';
import type { Settings } from '../settings/settings.ts';

/** Name resolution of a node. */
export interface NodeDns {
  readonly client: DnsClient;
  readonly table: NameTable;
  close(): void;
}

export interface NodeDnsOptions {
  readonly settings: Settings;
  readonly log: ErrorLog;
  readonly onChange: (name: string, state: NameState) => void;
}

export function createNodeDns({ settings, log, onChange }: NodeDnsOptions): NodeDns {
  const size = 10_000;
  const client = new DnsClient({
    servers: [],
    hostsFile: '/etc/hosts',
    order: ['LAST', 'SRV', 'A', 'CNAME'],
    validTtl: null,
    staleTtl: settings.dnsStaleTtl,
    size,
  });
  const table = new NameTable({
    resolver: client,
    staleTtl: settings.dnsStaleTtl,
    notFoundTtl: 30_000,
    errorTtl: 1_000,
    size,
    onChange,
    onHealth: (name, { error, stale }) => {
      if (error === null) log.notice(`the name ${name} can be resolved again`);
      else log.warn(`the name ${name} cannot be resolved${stale ? '; its last addresses stay in use' : ''}`, { error });
    },
  });
  const close = (): void => {
    table.close();
    client.close();
  };
  return { client, table, close };
}
