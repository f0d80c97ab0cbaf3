import { type NavigateOptions, useNavigate, useRouter } from '@tanstack/react-router';

/**
 * Navigation at the end of a request. Call the result when the request begins: it returns a `navigate` that does nothing if the user has
 * opened another page since then.
 */
export function useLateNavigation(): () => (to: NavigateOptions) => Promise<void> {
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
