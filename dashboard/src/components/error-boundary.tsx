import { useQueryClient } from '@tanstack/react-query';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorState } from './states.tsx';

export function RouteError({ error, reset }: ErrorComponentProps) {
  const client = useQueryClient();
  function retry(): void {
    // A query that has failed would throw the same error again.
    client.removeQueries({ predicate: ({ state }) => state.status === 'error' });
    reset();
  }
  return <ErrorState error={error} retry={retry} />;
}
