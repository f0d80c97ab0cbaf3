import { useCallback, useEffect, useState } from 'react';
import { ApiReference } from './api-reference.tsx';
import { Home } from './home.tsx';
import { keepKey, readKey } from './portal-client.ts';
import { PortalSignIn } from './portal-sign-in.tsx';

/** The portal of one consumer: its APIs, its keys and its usage. */
export function Portal() {
  const [key, setKey] = useState(readKey);
  const [ended, setEnded] = useState(false);
  const api = useApiInHash();
  const expired = useCallback(() => {
    keepKey(null);
    setKey(null);
    setEnded(true);
  }, []);

  function signedIn(next: string): void {
    keepKey(next);
    setEnded(false);
    setKey(next);
  }

  function signOut(): void {
    keepKey(null);
    setKey(null);
    location.hash = '';
  }

  if (key === null) return <PortalSignIn ended={ended} onSignedIn={signedIn} />;
  return (
    <>
      <button type="button" className="skip-link" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header className="portal-head">
        <a href="#/" className="portal-name">
          API portal
        </a>
        <button type="button" className="button" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1} className="portal-main">
        {api === null ? (
          <Home consumerKey={key} expired={expired} />
        ) : (
          <ApiReference key={api} id={api} consumerKey={key} expired={expired} />
        )}
      </main>
    </>
  );
}

/** `#/apis/<id>`; null: the first page. */
function useApiInHash(): string | null {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return /^#\/apis\/([0-9a-f-]{36})$/.exec(hash)?.[1] ?? null;
}
