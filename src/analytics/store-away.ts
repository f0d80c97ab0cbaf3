import { StoreError } from '../store/store.ts';

/** The store does not answer, or does not let the node in: it may later. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const { kind } = error.detail;
  return kind === 'unavailable' || kind === 'refused';
}
