import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiError, call } from '../api/client.ts';
import { type Caller, callerQuery } from '../api/queries.ts';
import { signIn } from './session.ts';

export function SignInPage() {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const entered = token.trim();
    if (entered === '') {
      setProblem('Enter a token.');
      return;
    }
    setBusy(true);
    try {
      await call<Caller>('GET', '/admin-users/me', { token: entered });
      signIn(entered);
      await client.refetchQueries({ queryKey: callerQuery.queryKey });
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit} noValidate>
        <img src="./favicon.svg" alt="" />
        <div>
          <h1>Sign in to Sluicegate</h1>
          <p className="muted">With the token of an admin user, or the admin token of the gateway.</p>
        </div>
        <div>
          <label htmlFor="token" className="visually-hidden">
            Token
          </label>
          <input
            id="token"
            className="input mono"
            type="password"
            autoComplete="current-password"
            spellCheck={false}
            placeholder="sgadm_…"
            value={token}
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : 'token-problem'}
            onChange={(event) => setToken(event.target.value)}
          />
          {problem !== null && (
            <p id="token-problem" role="alert" className="field-problem banner error small">
              {problem}
            </p>
          )}
        </div>
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <p className="small muted">
          The session ends when you sign out or close the browser's last tab of this page. To create a token:{' '}
          <code>sluicegate admin-user token &lt;name&gt;</code>
        </p>
      </form>
    </main>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return 'The gateway does not accept this token.';
  return error instanceof Error ? `${error.message}.` : 'The gateway does not answer.';
}
