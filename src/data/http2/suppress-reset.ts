import type { Http2Stream } from 'node:http2';

interface Handle {
  rstStream(code: number): void;
}

/** The symbol of a stream's handle; null: not searched yet, undefined: this version of Node has a different one. */
let handleSymbol: symbol | undefined | null = null;

/**
 * The stream closes without a RST_STREAM of its own. When Node destroys a session, it resets one stream after the
 * other, and before each it lets nghttp2 send the pending frames of all of them. There nghttp2 was seen to produce
 * frames endlessly for streams that had been reset before, until memory was exhausted. A peer that loses the whole
 * session needs no reset of its streams.
 */
export function suppressReset(stream: Http2Stream): void {
  if (handleSymbol === null)
    handleSymbol = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kHandle');
  if (handleSymbol === undefined) return;
  const handle = (stream as unknown as Record<symbol, Handle | undefined>)[handleSymbol];
  if (handle !== undefined) handle.rstStream = ignore;
}

function ignore(): void {}
