import { useQueryClient } from '@tanstack/react-query';
import { ApiError, call } from '../api/client.ts';
import { type Caller, callerQuery } from '../api/queries.ts';
import { SecretSignIn } from '../components/secret-sign-in.tsx';
import { signIn } from './session.ts';

export function SignInPage() {
  const client = useQueryClient();

  async function signInWith(token: string): Promise<void> {
    await call<Caller>('GET', '/admin-users/me', { token });
    signIn(token);
    await client.refetchQueries({ queryKey: callerQuery.queryKey });
  }

  return (
    <SecretSignIn
      logo="./favicon.svg"
      title="Sign in to Sluicegate"
      hint="With the token of an admin user, or the admin token of the gateway."
      label="Token"
      placeholder="sgadm_…"
      missing="Enter a token."
      signIn={signInWith}
      problemOf={problemOf}
    >
      The session ends when you sign out or close the browser's last tab of this page. To create a token:{' '}
      <code>sluicegate admin-user token &lt;name&gt;</code>
    </SecretSignIn>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return 'The gateway does not accept this token.';
  return error instanceof Error ? `${error.message}.` : 'The gateway does not answer.';
}
