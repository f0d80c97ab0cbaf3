import { StoreError } from '../store/store.ts';

/** The store does not answer: it may later. */
export function isAway(error: unknown): boolean {
  return error instanceof StoreError && error.detail.kind === 'unavailable';
}
