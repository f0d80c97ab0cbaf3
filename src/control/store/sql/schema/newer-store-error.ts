import { StoreError } from '../../store.ts';

export function newerStoreError(found: string): StoreError {
  return new StoreError(
    { kind: 'newer-store', found },
    {
      message: `the store requires a newer version (it has '${found}'): start that version, or use another store`,
    },
  );
}
