import { useEffect, useRef, useState } from 'react';
import { readToken, signedOut } from '../session/session.ts';
import { ApiError, apiRoot, OfflineError } from './client.ts';

/** One server-sent event. */
export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
}

/** Characters of one event: more is no event of the gateway. */
const maxLength = 4_194_304;
/** Milliseconds between two attempts to connect: first, and at most. */
const firstWait = 500;
const maxWait = 10_000;

/** `refused`: the Admin API answered with an error that another attempt does not change. */
export type StreamState = 'connecting' | 'live' | 'offline' | 'refused';

/**
 * Reads `path` of the Admin API as server-sent events while the component is shown and the page is visible, and connects again when the
 * stream ends. `path`: with its query; null: reads nothing. `received` may change from render to render.
 */
export function useEventStream(
  path: string | null,
  received: (event: StreamEvent) => void,
): { readonly state: StreamState; readonly error: Error | null } {
  const [state, setState] = useState<StreamState>('connecting');
  const [error, setError] = useState<Error | null>(null);
  const latest = useRef(received);
  latest.current = received;
  const visible = usePageVisible();
  useEffect(() => {
    if (path === null || !visible) return;
    const stop = new AbortController();
    const connected = (): void => {
      setState('live');
      setError(null);
    };
    void follow(path, stop.signal, {
      connected,
      received: (event) => latest.current(event),
      failed: (failure, final) => {
        setState(final ? 'refused' : 'offline');
        setError(failure);
      },
    });
    setState('connecting');
    return () => stop.abort();
  }, [path, visible]);
  return { state, error };
}

interface Follower {
  readonly connected: () => void;
  readonly received: (event: StreamEvent) => void;
  readonly failed: (error: Error, final: boolean) => void;
}

async function follow(path: string, signal: AbortSignal, follower: Follower): Promise<void> {
  let wait = firstWait;
  while (!signal.aborted) {
    try {
      await readEvents(path, signal, {
        ...follower,
        connected: () => {
          wait = firstWait;
          follower.connected();
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      const final = error instanceof ApiError && error.status < 500 && error.status !== 429;
      follower.failed(error instanceof Error ? error : new Error(String(error)), final);
      if (final) return;
    }
    await pause(wait, signal);
    wait = Math.min(wait * 2, maxWait);
  }
}

async function readEvents(path: string, signal: AbortSignal, follower: Follower): Promise<void> {
  const token = readToken();
  const response = await fetch(`${apiRoot}${path}`, {
    headers: { accept: 'text/event-stream', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    signal,
  }).catch((error: unknown) => {
    throw new OfflineError(error);
  });
  if (!response.ok || response.body === null) {
    if (response.status === 401) signedOut();
    throw new ApiError(response.status, await response.json().catch(() => null));
  }
  follower.connected();
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = eventOf(text.slice(0, end));
      text = text.slice(end + 2);
      if (event !== null) follower.received(event);
    }
    if (text.length > maxLength) throw new Error('An event of the Admin API is too long');
  }
}

/** Null: a comment. */
function eventOf(block: string): StreamEvent | null {
  let name = 'message';
  let data: string | null = null;
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('event:')) name = value;
    if (line.startsWith('data:')) data = data === null ? value : `${data}\n${value}`;
  }
  return data === null ? null : { name, data: JSON.parse(data) };
}

function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, time);
    signal.addEventListener('abort', done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}

function usePageVisible(): boolean {
  const [visible, setVisible] = useState(() => !document.hidden);
  useEffect(() => {
    const changed = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', changed);
    return () => document.removeEventListener('visibilitychange', changed);
  }, []);
  return visible;
}
