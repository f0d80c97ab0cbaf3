import type { MediaType } from '../../plugin-kit/http/index.ts';

export type Format = 'json' | 'xml';

/** Null: neither, or a type that is not data (pages, pictures). */
export function formatOf(media: MediaType | null): Format | null {
  if (media === null) return null;
  if (media.isJson) return 'json';
  return media.isXml && /^(?:application|text)\//.test(media.type) && media.type !== 'application/xhtml+xml'
    ? 'xml'
    : null;
}

export function otherFormat(format: Format): Format {
  return format === 'json' ? 'xml' : 'json';
}
