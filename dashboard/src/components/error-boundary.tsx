import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorState } from './states.tsx';

export function RouteError({ error, reset }: ErrorComponentProps) {
  return <ErrorState error={error} retry={reset} />;
}
