import { lazy, Suspense, useEffect, useState } from 'react';
import { onPaletteRequest, type PaletteKind, requestPalette } from './palette-request.ts';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';

const PaletteDialog = lazy(() => import('./palette-dialog.tsx'));

/** Listens for the shortcuts. The palette itself is loaded when it is opened for the first time. */
export function PaletteHost() {
  const [open, setOpen] = useState<PaletteKind | null>(null);
  useEffect(() => onPaletteRequest(setOpen), []);
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      if (event.key !== 'k' && event.key !== '/') return;
      event.preventDefault();
      requestPalette(event.key === 'k' ? 'search' : 'shortcuts');
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  if (open === 'shortcuts') return <ShortcutsDialog onClose={() => setOpen(null)} />;
  if (open === null) return null;
  return (
    <Suspense fallback={null}>
      <PaletteDialog onClose={() => setOpen(null)} />
    </Suspense>
  );
}
