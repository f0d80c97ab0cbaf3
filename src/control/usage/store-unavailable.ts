import { StoreError } from '../store/store.ts';

/** The store does not answer or refuses the node, which may change later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const { kind } = error.detail;
  return kind === 'unavailable' || kind === 'refused';
}
