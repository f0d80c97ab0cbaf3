import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { queryClient } from './api/query-client.ts';
import { router } from './router.tsx';
import { joinSession } from './session/session.ts';
import { SessionGate } from './session/session-gate.tsx';

export function App() {
  const [joined, setJoined] = useState(false);
  useEffect(() => void joinSession().then(() => setJoined(true)), []);
  if (!joined) return null;
  return (
    <QueryClientProvider client={queryClient}>
      <SessionGate>
        <RouterProvider router={router} />
      </SessionGate>
    </QueryClientProvider>
  );
}
