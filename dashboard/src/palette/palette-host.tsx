import { lazy, Suspense, useEffect, useState } from 'react';
import { onPaletteRequest, type PaletteKind, requestPalette } from './palette-request.ts';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';

const loadDialog = () => import('./palette-dialog.tsx');
const PaletteDialog = lazy(loadDialog);

/** Listens for the shortcuts. The palette itself is loaded when it is opened for the first time. */
export function PaletteHost() {
  const [open, setOpen] = useState<PaletteKind | null>(null);
  useEffect(() => onPaletteRequest(setOpen), []);
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      // Loaded while the second key of the shortcut is pressed, so that no text is lost that is typed at once.
      if (event.key === 'Control' || event.key === 'Meta') void loadDialog().catch(() => undefined);
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
