import { type RefObject, useEffect } from 'react';

/** Shows the field that the address of the page names (`#field-read_timeout`), and puts the focus there. */
export function useLinkedField(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const id = CSS.escape(location.hash.slice(1));
    if (!id.startsWith('field-')) return;
    // After the page has taken the focus.
    const frame = requestAnimationFrame(() => {
      const named = form.current?.querySelector<HTMLElement>(`#${id}, [id^="${id}-"]`);
      const folded = named?.closest('details');
      if (folded) folded.open = true;
      named?.scrollIntoView({ block: 'center' });
      const control = 'input, select, textarea, button';
      const focused = named?.matches(control) ? named : named?.closest('.field')?.querySelector<HTMLElement>(control);
      focused?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [form]);
}
