import type { TrafficSearch } from '../router.tsx';

interface ShownList {
  readonly search: TrafficSearch;
  /** Newest first. */
  readonly ids: readonly string[];
}

/** What the list showed when it was left: one request's page leads to the next one of it, and back. */
let shown: ShownList | null = null;

export function rememberList(list: ShownList): void {
  shown = list;
}

export function lastList(): ShownList | null {
  return shown;
}
