import { useEffect, useState } from 'react';

const query = '(max-width: 56rem)';

/** Whether the page is as narrow as a phone: without the navigation at its side. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = (): void => setNarrow(list.matches);
    list.addEventListener('change', change);
    return () => list.removeEventListener('change', change);
  }, []);
  return narrow;
}
