import type { Http2Stream } from 'node:http2';

interface Handle {
  rstStream(code: number): void;
}

/** The place of a stream's handle; null: not looked for yet, undefined: this version of Node has another one. */
let place: symbol | undefined | null = null;

/**
 * The stream goes without a RST_STREAM of its own. When Node gives up a session it resets one stream after the other, and before each
 * it lets nghttp2 send what is pending of all of them; there nghttp2 was seen to make frames for ever, of streams that had been
 * given up before, until memory was used up. Whoever loses the whole session needs no word on its streams.
 */
export function silence(stream: Http2Stream): void {
  if (place === null) place = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kHandle');
  if (place === undefined) return;
  const handle = (stream as unknown as Record<symbol, Handle | undefined>)[place];
  if (handle !== undefined) handle.rstStream = ignore;
}

function ignore(): void {}
