import { useEffect, useState } from 'react';
import type { Reference } from '../reference/types.ts';

const root = new URL('api/', document.baseURI).pathname;

/** The key of this session. It is in `sessionStorage`, which ends with the tab; never in a cookie or a URL. */
const storageKey = 'sluicegate.portal';

export function readKey(): string | null {
  return sessionStorage.getItem(storageKey);
}

export function keepKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, key);
}

export interface Me {
  readonly username: string | null;
  readonly custom_id: string | null;
  readonly keys: readonly {
    readonly masked: string;
    /** Seconds since the epoch. */
    readonly created_at: number;
    readonly expires_at: number | null;
    readonly current: boolean;
  }[];
}

export interface ApiSummary {
  readonly id: string;
  readonly name: string;
  readonly title: string | null;
  readonly version: string | null;
}

export interface Usage {
  readonly from: number;
  readonly to: number;
  readonly each: 'hour' | 'day';
  readonly parts: readonly {
    readonly start: number;
    readonly requests: number;
    readonly client_errors: number;
    readonly server_errors: number;
  }[];
  readonly statuses: readonly { readonly status: number; readonly requests: number }[];
}

export interface PortalReference extends Reference {
  readonly api: ApiSummary;
}

/** An answer other than success, or none (status 0). */
export class PortalFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'PortalFailure';
    this.status = status;
  }
}

/** Reads a path below `/portal/api/`. Rejects with a `PortalFailure`. */
export async function read<T>(path: string, key: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`${root}${path}`, {
    // Header fields have no other characters.
    headers: { accept: 'application/json', authorization: `Bearer ${encodeURIComponent(key)}` },
    credentials: 'omit',
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new PortalFailure(0, 'The portal does not answer. Try again in a moment.');
  });
  const value: unknown = await response.json().catch(() => null);
  if (response.ok) return value as T;
  const { message } = Object(value) as { readonly message?: unknown };
  throw new PortalFailure(response.status, typeof message === 'string' ? message : 'The portal failed.');
}

export interface Loaded<T> {
  readonly data: T | null;
  readonly error: PortalFailure | null;
  readonly again: () => void;
}

/** What a path answers. `expired`: called when the key is no longer valid. */
export function useRead<T>(path: string, key: string, expired: () => void): Loaded<T> {
  const [state, setState] = useState<{
    readonly path: string;
    readonly data: T | null;
    readonly error: PortalFailure | null;
  }>({ path, data: null, error: null });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` repeats the request
  useEffect(() => {
    const abort = new AbortController();
    read<T>(path, key, abort.signal).then(
      (data) => setState({ path, data, error: null }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (error instanceof PortalFailure && error.status === 401) expired();
        setState({
          path,
          data: null,
          error: error instanceof PortalFailure ? error : new PortalFailure(0, String(error)),
        });
      },
    );
    return () => abort.abort();
  }, [path, key, round, expired]);
  const current = state.path === path ? state : { data: null, error: null };
  return { data: current.data, error: current.error, again: () => setRound((before) => before + 1) };
}
