export type Style = 'page' | 'offset' | 'cursor' | 'before';
export const styles: readonly Style[] = ['page', 'offset', 'cursor', 'before'];

/** Whether clients of one style can be served by a backend of another. `walk`: only by requesting all pages before. */
export type Mapping = 'exact' | 'walk' | 'none';

const byOffset: Readonly<Record<Style, Mapping>> = { page: 'exact', offset: 'exact', cursor: 'exact', before: 'none' };

/** By the backend's style, then by the client's. */
const mappings: Readonly<Record<Style, Readonly<Record<Style, Mapping>>>> = {
  page: byOffset,
  offset: byOffset,
  cursor: { page: 'walk', offset: 'walk', cursor: 'exact', before: 'none' },
  before: { page: 'walk', offset: 'walk', cursor: 'exact', before: 'exact' },
};

export function mappingOf(client: Style, backend: Style): Mapping {
  return mappings[backend][client];
}

/** The backend continues from an item, not from a number. */
export function goesByToken(style: Style): boolean {
  return style === 'cursor' || style === 'before';
}
