import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';

/** Answers are read again when a page is opened or the window gets the focus; an error of the client is not retried. */
export const queryClient = new QueryClient({
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
