const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The URL as logs may show it: of the segments that name an entity by a secret (`/key-auths/<key>`), the value is replaced. An
 * id is not a secret.
 */
export function maskedUrl(url: string, secrets: readonly string[]): string {
  const hidden = secrets.filter((value) => value !== '' && !uuid.test(value));
  if (hidden.length === 0) return url;
  // The router takes a fragment, which no client should send, for the end of the path, too.
  const mark = url.search(/[?#]/);
  const path = mark < 0 ? url : url.slice(0, mark);
  const segments = path.split('/').map((segment) => (hidden.includes(decoded(segment)) ? 'REDACTED' : segment));
  return segments.join('/') + url.slice(path.length);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
