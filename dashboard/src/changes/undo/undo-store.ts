import { useSyncExternalStore } from 'react';

/** A change that was saved, and the way back. */
export interface SavedChange {
  /** `Saved. All workers of this node use it.` */
  readonly text: string;
  /** The version that the change made; null: it cannot be taken back. */
  readonly version: number | null;
  readonly action: 'Undo' | 'Redo';
  /** Path of the page of the entity; null: of several. */
  readonly page: string | null;
  /** Taking the change back deletes the entity; null: it only changes it. */
  readonly deletes: boolean | null;
}

interface UndoState {
  readonly saved: SavedChange | null;
  /** How often something was taken back: forms begin again with what is there then. */
  readonly count: number;
}

let state: UndoState = { saved: null, count: 0 };
const listeners = new Set<() => void>();

export function offerUndo(saved: SavedChange): void {
  change({ ...state, saved });
}

export function dismissUndo(): void {
  if (state.saved !== null) change({ ...state, saved: null });
}

export function tookBack(saved: SavedChange): void {
  change({ saved, count: state.count + 1 });
}

export function useUndo(): UndoState {
  return useSyncExternalStore(subscribe, () => state);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: UndoState): void {
  state = next;
  for (const listener of listeners) listener();
}
