/** nginx's rule, which Kong's users know: everything but POST, LOCK and PATCH may be sent again. */
export function isIdempotent(method: string): boolean {
  return method !== 'POST' && method !== 'LOCK' && method !== 'PATCH';
}
