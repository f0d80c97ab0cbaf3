/**
 * The admin token of this browser session. It is in `sessionStorage`, which only pages of this origin can read, port included, and which ends
 * with the tab. A new tab receives it from another open one. See docs/decisions/0025.
 */
const key = 'sluicegate.token';
const channel = new BroadcastChannel('sluicegate.session');
const listeners = new Set<() => void>();

type Message = { readonly kind: 'ask' | 'ended' } | { readonly kind: 'token'; readonly token: string };

/** Null: nobody has signed in. */
export function readToken(): string | null {
  return sessionStorage.getItem(key);
}

export function signIn(token: string): void {
  sessionStorage.setItem(key, token);
  channel.postMessage({ kind: 'token', token } satisfies Message);
  changed();
}

/** Ends the session in all tabs. */
export function signOut(): void {
  forget();
  channel.postMessage({ kind: 'ended' } satisfies Message);
}

/** The Admin API no longer accepts the token. */
export function signedOut(): void {
  if (readToken() !== null) forget();
}

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Resolves when another tab has had the time to answer. */
export function joinSession(): Promise<void> {
  if (readToken() !== null) return Promise.resolve();
  channel.postMessage({ kind: 'ask' } satisfies Message);
  return new Promise((resolve) => {
    const stop = onSessionChange(done);
    const timer = setTimeout(done, 60);
    function done(): void {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
}

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  const token = readToken();
  if (data.kind === 'ask' && token !== null) channel.postMessage({ kind: 'token', token } satisfies Message);
  if (data.kind === 'ended') forget();
  if (data.kind === 'token' && token !== data.token) {
    sessionStorage.setItem(key, data.token);
    changed();
  }
});

function forget(): void {
  sessionStorage.removeItem(key);
  changed();
}

function changed(): void {
  for (const listener of listeners) listener();
}
