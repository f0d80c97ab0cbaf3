import { SecretSignIn } from '../components/secret-sign-in.tsx';
import { type Me, PortalFailure, read } from './portal-client.ts';

interface PortalSignInProps {
  /** The key was valid before. */
  readonly ended: boolean;
  readonly onSignedIn: (key: string) => void;
}

export function PortalSignIn({ ended, onSignedIn }: PortalSignInProps) {
  async function signIn(key: string): Promise<void> {
    await read<Me>('me', key);
    onSignedIn(key);
  }

  return (
    <SecretSignIn
      title="Sign in to the API portal"
      hint="With one of your API keys."
      label="API key"
      placeholder="API key"
      missing="Enter your key."
      problem={ended ? 'Your key is no longer valid.' : null}
      signIn={signIn}
      problemOf={problemOf}
    >
      The session ends when you sign out or close the tab.
    </SecretSignIn>
  );
}

function problemOf(error: unknown): string {
  if (!(error instanceof PortalFailure)) return 'The portal does not answer.';
  return error.status === 401 ? 'This key is not valid.' : error.message;
}
