import { useSuspenseQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { rowsQuery } from '../api/queries.ts';
import { FirstRun } from './first-run.tsx';

/** An empty gateway shows how to begin; another one its services. */
export function HomePage() {
  const { data: services } = useSuspenseQuery(rowsQuery('/services', 1));
  const { data: routes } = useSuspenseQuery(rowsQuery('/routes', 1));
  const [wasEmpty] = useState(services.rows.length + routes.rows.length === 0);
  return wasEmpty ? <FirstRun /> : <Navigate to="/config/$entity" params={{ entity: 'services' }} replace />;
}
