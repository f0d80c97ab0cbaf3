import type { Store, StoreWriter } from '../../store/store.ts';

const reads: ReadonlySet<PropertyKey> = new Set(['get', 'findBy', 'list', 'count', 'hasExpired']);

/** The store as a transaction sees it: handlers that read before they write find what earlier changes have written. */
export function scratchStore(store: Store, writer: StoreWriter): Store {
  return new Proxy(store, {
    get(target, name) {
      if (reads.has(name)) return Reflect.get(writer, name);
      if (name === 'kind') return target.kind;
      // Nothing may write around the transaction.
      throw new Error(`a what-if does not use '${String(name)}' of the store`);
    },
  });
}
