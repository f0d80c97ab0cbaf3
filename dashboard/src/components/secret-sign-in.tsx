import { type FormEvent, type ReactNode, useState } from 'react';

interface SecretSignInProps {
  readonly logo?: string;
  readonly title: string;
  readonly hint: string;
  /** What the secret is called, as a label. */
  readonly label: string;
  readonly placeholder: string;
  /** Shown when nothing was entered. */
  readonly missing: string;
  /** Shown at first; null: nothing. */
  readonly problem?: string | null;
  /** Rejects when the secret is not accepted. */
  readonly signIn: (secret: string) => Promise<void>;
  readonly problemOf: (error: unknown) => string;
  readonly children: ReactNode;
}

/** A page with one field for a secret. `children`: what is said below the button. */
export function SecretSignIn(props: SecretSignInProps) {
  const { logo, title, hint, label, placeholder, missing, signIn, problemOf, children } = props;
  const [secret, setSecret] = useState('');
  const [problem, setProblem] = useState(props.problem ?? null);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const entered = secret.trim();
    if (entered === '') return setProblem(missing);
    setBusy(true);
    try {
      await signIn(entered);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit} noValidate>
        {logo !== undefined && <img src={logo} alt="" />}
        <div>
          <h1>{title}</h1>
          <p className="muted">{hint}</p>
        </div>
        <div>
          <label htmlFor="secret" className="visually-hidden">
            {label}
          </label>
          <input
            id="secret"
            className="input mono"
            type="password"
            autoComplete="current-password"
            spellCheck={false}
            placeholder={placeholder}
            value={secret}
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : 'secret-problem'}
            onChange={(event) => setSecret(event.target.value)}
          />
          {problem !== null && (
            <p id="secret-problem" role="alert" className="field-problem banner error small">
              {problem}
            </p>
          )}
        </div>
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <p className="small muted">{children}</p>
      </form>
    </main>
  );
}
