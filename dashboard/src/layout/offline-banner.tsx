import { useQuery } from '@tanstack/react-query';
import { OfflineError } from '../api/client.ts';
import { callerQuery } from '../api/queries.ts';

/** Says that what is shown may be old, and notices when the gateway answers again. */
export function OfflineBanner() {
  const { error } = useQuery({
    ...callerQuery,
    refetchInterval: ({ state }) => (state.error === null ? 15_000 : 2_000),
  });
  if (!(error instanceof OfflineError)) return null;
  return (
    <p role="status" className="banner">
      The gateway does not answer. What you see is the last that it said; the page reconnects by itself.
    </p>
  );
}
