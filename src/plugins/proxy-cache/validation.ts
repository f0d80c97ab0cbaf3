import type { AccessContext } from '../../plugin-sdk/index.ts';
import type { Kept } from './finder.ts';
import { lineOf } from './header-lines.ts';

/** Makes the request one for what has changed (RFC 9111 4.3.1). False: the answer has nothing to tell it by. */
export function askWhether({ upstream }: AccessContext, { answer }: Kept): boolean {
  const tag = lineOf(answer.block, 'etag');
  const modified = lineOf(answer.block, 'last-modified');
  if (tag === null && modified === null) return false;
  if (tag === null) upstream.removeHeader('If-None-Match');
  else upstream.setHeader('If-None-Match', tag);
  if (modified === null) upstream.removeHeader('If-Modified-Since');
  else upstream.setHeader('If-Modified-Since', modified);
  upstream.removeHeader('Range');
  upstream.removeHeader('If-Range');
  return true;
}

/** The client's conditions are judged by the cache, once the whole is there. */
export function removeConditions({ upstream }: AccessContext): void {
  upstream.removeHeader('If-None-Match');
  upstream.removeHeader('If-Modified-Since');
}
