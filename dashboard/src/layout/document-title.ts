import { type RefObject, useEffect } from 'react';

const product = 'Sluicegate';

/** The title of the document follows the heading of the page, whichever page it is and whenever its data arrive. */
export function useDocumentTitle(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { current } = main;
    if (current === null) return;
    function update(): void {
      const title = headingOf(current);
      const next = title === '' ? product : `${title} · ${product}`;
      if (document.title !== next) document.title = next;
    }
    update();
    const observer = new MutationObserver(update);
    observer.observe(current, { childList: true, subtree: true, characterData: true });
    return () => {
      observer.disconnect();
      document.title = product;
    };
  }, [main]);
}

/** Without what is only a note in it, such as a number of rows. */
function headingOf(main: HTMLElement | null): string {
  const heading = main?.querySelector('h1');
  const texts = [...(heading?.childNodes ?? [])].filter(
    (node) => !(node instanceof Element && node.classList.contains('badge')),
  );
  return texts
    .map((node) => node.textContent ?? '')
    .join('')
    .trim();
}
