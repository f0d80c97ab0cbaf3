import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { readTheme, showTheme } from '../layout/theme.ts';
import { Portal } from './portal.tsx';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/components.css';
import '../styles/layout.css';
import './portal.css';

// Before the first paint.
showTheme(readTheme());

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Portal />
  </StrictMode>,
);
