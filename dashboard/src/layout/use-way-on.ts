import { type NavigateOptions, useNavigate, useRouter } from '@tanstack/react-router';

/**
 * The page to show when a request has ended. Call it when the request begins; what it returns navigates, unless the user has gone to another
 * page in the meantime.
 */
export function useWayOn(): () => (to: NavigateOptions) => Promise<void> {
  const router = useRouter();
  const navigate = useNavigate();
  const pathname = (): string => router.state.location.pathname;
  return () => {
    const begun = pathname();
    return async (to) => {
      if (pathname() === begun) await navigate(to);
    };
  };
}
