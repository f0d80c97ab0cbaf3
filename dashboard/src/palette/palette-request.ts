export type PaletteKind = 'search' | 'shortcuts';

const listeners = new Set<(kind: PaletteKind) => void>();

/** Opens the palette, or the list of shortcuts, from anywhere on the page. */
export function requestPalette(kind: PaletteKind): void {
  for (const listener of listeners) listener(kind);
}

export function onPaletteRequest(listener: (kind: PaletteKind) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How the platform names the key of shortcuts. */
export const commandKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';
