import { keepTrailers } from '../../http/trailers.ts';
import type { HeaderList } from '../hpack/header-list.ts';

const maxTrailerBytes = 8192;

/** The fields of a trailer section as lines, without those that are not allowed there; null when it is malformed or too long. */
export function trailerLines(list: HeaderList): string | null {
  if (!list.valid || list.exceeded) return null;
  let text = '';
  for (const field of list.fields) {
    if (field.pseudo) return null;
    text += field.line;
  }
  return text.length > maxTrailerBytes ? null : keepTrailers(text);
}
