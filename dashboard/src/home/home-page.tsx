import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { rowsQuery } from '../api/queries.ts';
import { LoadingState } from '../components/states.tsx';
import { FirstRun } from './first-run.tsx';

/** Milliseconds for the answer whether the gateway is empty: a database that hangs needs longer. */
const decisionTime = 1_500;

const loadOverview = () => import('../overview/overview-page.tsx');
const OverviewPage = lazy(async () => ({ default: (await loadOverview()).OverviewPage }));

/** An empty gateway shows how to begin; another one what is going on, also while its database is unavailable. */
export function HomePage() {
  // The code arrives while the gateway answers.
  useState(loadOverview);
  const [services, routes] = useQueries({ queries: [rowsQuery('/services', 1), rowsQuery('/routes', 1)] });
  const [empty, setEmpty] = useState<boolean | null>(null);
  if (empty === null && !services.isPending && !routes.isPending) {
    setEmpty(services.data?.rows.length === 0 && routes.data?.rows.length === 0);
  }
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), decisionTime);
    return () => clearTimeout(timer);
  }, []);
  if (empty === null && !late) return <LoadingState />;
  return empty === true ? (
    <FirstRun />
  ) : (
    <Suspense fallback={<LoadingState />}>
      <OverviewPage />
    </Suspense>
  );
}
