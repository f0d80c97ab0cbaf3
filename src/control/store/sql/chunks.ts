/** Databases limit the number of parameters of a statement, so lists of ids are split. */
export function chunks<T>(items: readonly T[], size = 500): readonly (readonly T[])[] {
  const pieces: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += size) pieces.push(items.slice(start, start + size));
  return pieces;
}
