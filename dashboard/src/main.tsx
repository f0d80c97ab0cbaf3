import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError, OfflineError } from './api/client.ts';
import { App } from './app.tsx';
import { readTheme, showTheme } from './layout/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/layout.css';

// Before the first paint.
showTheme(readTheme());

createRoot(document.getElementById('root')!, { onCaughtError: logUnexpected }).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

/** The page shows what the gateway answers; the console has the errors of the page itself. */
function logUnexpected(error: unknown): void {
  if (!(error instanceof ApiError || error instanceof OfflineError)) console.error(error);
}
