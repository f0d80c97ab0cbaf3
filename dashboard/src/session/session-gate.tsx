import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { ApiError } from '../api/client.ts';
import { callerQuery } from '../api/queries.ts';
import { ErrorState, LoadingState } from '../components/states.tsx';
import { onSessionChange, readToken } from './session.ts';
import { SignInPage } from './sign-in-page.tsx';

/** Shows the pages to a caller who may use the Admin API, and the sign-in to others. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  useEffect(
    () =>
      onSessionChange(() => {
        // The page stays while its user signs in: it may show something that is shown once.
        if (readToken() !== null) return void client.invalidateQueries();
        // Nothing that one user has read is shown to the next.
        client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'caller' });
        void client.resetQueries({ queryKey: ['caller'] });
      }),
    [client],
  );
  const { data, error, isPending, refetch } = useQuery(callerQuery);
  if (error instanceof ApiError && error.status === 401) return <SignInPage />;
  if (data !== undefined) return children;
  if (isPending) return <LoadingState label="Connecting to the gateway" />;
  return <ErrorState error={error} retry={() => void refetch()} />;
}
