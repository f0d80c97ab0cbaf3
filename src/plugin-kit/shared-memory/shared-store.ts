import type { SharedStore, SharedStoreOptions } from '../../plugin-sdk/shared-store.ts';
import { ZoneStore } from '../../shared/zones/store/shared-store.ts';
import { controlPlane } from '../../shared/zones/store/store-memory.ts';

/** Opens the store of a zone of the kind `store`. Cheap: it is only a view of the memory. */
export function sharedStore(memory: SharedArrayBuffer, options: SharedStoreOptions): SharedStore {
  const { worker, namespace = '', now = Date.now } = options;
  return new ZoneStore(memory, { worker: worker === 'control-plane' ? controlPlane : worker, namespace, now });
}
