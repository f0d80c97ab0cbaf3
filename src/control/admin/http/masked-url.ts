const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The URL for logs: segments that identify an entity by a secret (`/key-auths/<key>`) are masked. An id is not a secret.
 */
export function maskedUrl(url: string, secrets: readonly string[]): string {
  const hidden = secrets.filter((value) => value !== '' && !uuid.test(value));
  if (hidden.length === 0) return url;
  // For the router, a fragment, which no client should send, ends the path, too.
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
