import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { callerQuery } from '../api/queries.ts';
import { UndoNotice } from '../changes/undo/undo-notice.tsx';
import { PaletteHost } from '../palette/palette-host.tsx';
import { useDocumentTitle } from './document-title.ts';
import { OfflineBanner } from './offline-banner.tsx';
import { Sidebar } from './sidebar.tsx';

/** Navigation and the page next to it. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [menu, setMenu] = useState(false);
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    setMenu(false);
    // The reader of the screen, and the next Tab, begin at the new page.
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
  useDocumentTitle(main);
  const { data: caller } = useQuery(callerQuery);
  return (
    <div className="shell">
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header className="top-bar">
        <Dialog.Root open={menu} onOpenChange={setMenu}>
          <Dialog.Trigger className="button plain">Menu</Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Backdrop className="backdrop" />
            <Dialog.Popup className="dialog drawer" aria-label="Menu">
              <Sidebar caller={caller} />
            </Dialog.Popup>
          </Dialog.Portal>
        </Dialog.Root>
        <span className="brand">Sluicegate</span>
      </header>
      <Sidebar caller={caller} />
      <main id="main" ref={main} tabIndex={-1} className="main">
        <OfflineBanner />
        <UndoNotice />
        <Outlet />
      </main>
      <PaletteHost />
    </div>
  );
}
