import type { BodyTransform } from '../../plugin-sdk/response-views.ts';

/** Changes a piece of a text. Undefined: unchanged; null: dropped. `last`: nothing follows; the piece may be empty. */
export type ChangeText = (text: string, last: boolean) => string | null | undefined;

/**
 * A transform that shows the pieces of a body as text. A character of UTF-8 that a piece cuts waits for the rest of it. Pieces that
 * stay unchanged are sent as the bytes that they were, so that bodies which are no text survive.
 */
export function bodyPieces(change: ChangeText): BodyTransform {
  let held: Uint8Array = nothing;
  const changed = (bytes: Uint8Array, last: boolean): Uint8Array | null => {
    const text = decoder.decode(bytes);
    const result = change(text, last);
    if (result === undefined || result === text) return bytes.byteLength === 0 ? null : bytes;
    return result === null || result === '' ? null : Buffer.from(result);
  };
  return {
    chunk(piece) {
      const bytes = held.byteLength === 0 ? piece : Buffer.concat([held, piece]);
      const complete = completeLength(bytes);
      held = complete === bytes.byteLength ? nothing : Uint8Array.from(bytes.subarray(complete));
      return complete === 0 ? null : changed(bytes.subarray(0, complete), false);
    },
    end: () => changed(held, true),
  };
}

const nothing = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Length without a character at the end whose bytes are not all there. */
function completeLength(bytes: Uint8Array): number {
  const end = bytes.byteLength;
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? end - back : end;
  }
  return end;
}
