import { type FormEvent, useState } from 'react';
import { type Me, PortalFailure, read } from './portal-client.ts';

interface PortalSignInProps {
  /** The key was valid before. */
  readonly ended: boolean;
  readonly onSignedIn: (key: string) => void;
}

export function PortalSignIn({ ended, onSignedIn }: PortalSignInProps) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(ended ? 'Your key is no longer valid.' : null);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const entered = key.trim();
    if (entered === '') return setProblem('Enter your key.');
    setBusy(true);
    try {
      await read<Me>('me', entered);
      onSignedIn(entered);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit} noValidate>
        <div>
          <h1>Sign in to the API portal</h1>
          <p className="muted">With one of your API keys.</p>
        </div>
        <div>
          <label htmlFor="key" className="visually-hidden">
            API key
          </label>
          <input
            id="key"
            className="input mono"
            type="password"
            autoComplete="current-password"
            spellCheck={false}
            placeholder="API key"
            value={key}
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : 'key-problem'}
            onChange={(event) => setKey(event.target.value)}
          />
          {problem !== null && (
            <p id="key-problem" role="alert" className="field-problem banner error small">
              {problem}
            </p>
          )}
        </div>
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <p className="small muted">The session ends when you sign out or close the tab.</p>
      </form>
    </main>
  );
}

function problemOf(error: unknown): string {
  if (!(error instanceof PortalFailure)) return 'The portal does not answer.';
  return error.status === 401 ? 'This key is not valid.' : error.message;
}
