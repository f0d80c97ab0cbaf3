import { AddressBook } from '../../control/publish/address-book.ts';
import type { Store } from '../../control/store/store.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { ToWorker } from '../../shared/messages/messages.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { AddressZone, type AddressZoneMemory } from '../../shared/zones/address-zone.ts';
import { createNodeDns, type NodeDns } from './node-dns.ts';
import { NodeHealth } from './node-health.ts';
import { NodeNames } from './node-names.ts';

export interface NodeAddressesOptions {
  readonly settings: Settings;
  readonly nodeId: string;
  readonly memory: AddressZoneMemory;
  readonly store: Store;
  readonly log: ErrorLog;
  /** Sends a message to all workers. */
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
    onRemove: (name) => names.removed(name),
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
