/** An answer to this method, or of this status, ends with its head, whatever the head says of a length (RFC 9112 6.3). */
export function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}
