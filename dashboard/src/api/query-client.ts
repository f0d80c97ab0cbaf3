import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, OfflineError } from './client.ts';
import { callerQuery } from './queries.ts';

/** Answers are read again when a page is opened or the window gets the focus; an error of the client is not retried. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, { queryKey }) {
      if (!(error instanceof OfflineError) || queryKey[0] === callerQuery.queryKey[0]) return;
      // The banner of all pages shows whether the caller can be read; it need not wait for its turn.
      const state = queryClient.getQueryState(callerQuery.queryKey);
      if (state?.error === null) void queryClient.refetchQueries({ queryKey: callerQuery.queryKey });
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      networkMode: 'always',
      retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
      retryDelay: 500,
    },
    mutations: { networkMode: 'always' },
  },
});
