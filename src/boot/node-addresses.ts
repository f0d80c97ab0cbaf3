import { AddressZone, type AddressZoneMemory } from '../balancer/address-zone.ts';
import type { ErrorLog } from '../observability/error-log.ts';
import type { Settings } from '../settings/settings.ts';
import { AddressBook } from '../snapshot/address-book.ts';
import type { Store } from '../store/store.ts';
import type { ToWorker } from '../workers/messages.ts';
import { createNodeDns, type NodeDns } from './node-dns.ts';
import { NodeHealth } from './node-health.ts';
import { NodeNames } from './node-names.ts';

export interface NodeAddressesOptions {
  readonly settings: Settings;
  readonly nodeId: string;
  readonly memory: AddressZoneMemory;
  readonly store: Store;
  readonly log: ErrorLog;
  /** Tells all workers. */
  readonly broadcast: (message: ToWorker) => void;
}

/** Names, the addresses of upstreams, and their health. */
export interface NodeAddresses {
  readonly dns: NodeDns;
  readonly names: NodeNames;
  readonly book: AddressBook;
  readonly health: NodeHealth;
}

export function openAddresses(options: NodeAddressesOptions): NodeAddresses {
  const { settings, nodeId, memory, store, log, broadcast } = options;
  const dns = createNodeDns({
    settings,
    log,
    onChange: (name, state) => names.changed(name, state),
    onForget: (name) => names.forgotten(name),
  });
  const names = new NodeNames({
    table: dns.table,
    broadcast,
    targetChanged: (name) => {
      const addresses = book.nameChanged(name);
      if (addresses !== null) broadcast({ type: 'addresses', addresses });
    },
  });
  const zone = new AddressZone(memory, -1);
  const book = new AddressBook(zone, names);
  const health = new NodeHealth({ settings, nodeId, zone, store, log });
  book.onChange(() => health.monitor.update(book.list()));
  return { dns, names, book, health };
}
