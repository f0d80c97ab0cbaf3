/** The choice of the user; `system` follows `prefers-color-scheme`. Not a secret, so it outlives the session. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'sluicegate.theme';
const themes: readonly Theme[] = ['system', 'light', 'dark'];

export function readTheme(): Theme {
  const stored = localStorage.getItem(key);
  return themes.find((theme) => theme === stored) ?? 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  showTheme(theme);
  for (const listener of listeners) listener();
}

const listeners = new Set<() => void>();

export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function showTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
}
