import { useSuspenseQuery } from '@tanstack/react-query';
import { lazy, useState } from 'react';
import { rowsQuery } from '../api/queries.ts';
import { FirstRun } from './first-run.tsx';

const OverviewPage = lazy(async () => ({ default: (await import('../overview/overview-page.tsx')).OverviewPage }));

/** An empty gateway shows how to begin; another one what is going on. */
export function HomePage() {
  const { data: services } = useSuspenseQuery(rowsQuery('/services', 1));
  const { data: routes } = useSuspenseQuery(rowsQuery('/routes', 1));
  const [wasEmpty] = useState(services.rows.length + routes.rows.length === 0);
  return wasEmpty ? <FirstRun /> : <OverviewPage />;
}
