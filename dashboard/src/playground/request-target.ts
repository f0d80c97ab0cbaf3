/** Path and query of a URL or path, as the gateway receives them; null: it is neither. */
export function requestTarget(url: string): string | null {
  const rest = /^https?:\/\/[^/?#]+([^#]*)$/i.exec(url)?.[1] ?? (url.startsWith('/') ? url : null);
  if (rest === null || /[\x00-\x20\x7f]/.test(rest)) return null;
  return (rest.startsWith('/') ? rest : `/${rest}`).replace(/[^\x00-\x7f]+/g, encodeURIComponent);
}
