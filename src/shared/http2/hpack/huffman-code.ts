/**
 * The Huffman code of RFC 7541, Appendix B. It is canonical: codes of one length are consecutive numbers in the order of
 * their symbols, so the lengths say everything.
 */

/** The symbol that ends the code and must not occur in a string. */
const endOfString = 256;
export const maxCodeLength = 30;

/** Bits of the code of each byte, and of the end-of-string symbol. */
const lengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];

interface Code {
  /** The code of each byte, in its lowest bits. */
  readonly codes: Uint32Array;
  /** Its number of bits. */
  readonly lengths: Uint8Array;
  /** All symbols in the order of their codes; the last one is `endOfString`. */
  readonly symbols: Uint16Array;
  /** For each length: the first code, and the position of its symbol in `symbols`. The entry after the last says where they end. */
  readonly firstCode: Uint32Array;
  readonly firstSymbol: Uint16Array;
}

export const huffmanCode: Code = buildCode();

function buildCode(): Code {
  const ordered = lengths
    .map((length, symbol) => ({ length, symbol }))
    .sort((a, b) => a.length - b.length || a.symbol - b.symbol);
  const codes = new Uint32Array(256);
  const firstCode = new Uint32Array(maxCodeLength + 2);
  const firstSymbol = new Uint16Array(maxCodeLength + 2);
  let code = 0;
  let at = 0;
  for (let length = 1; length <= maxCodeLength; length++) {
    code *= 2;
    firstCode[length] = code;
    firstSymbol[length] = at;
    for (; ordered[at]?.length === length; at++) {
      const { symbol } = ordered[at] as { readonly symbol: number };
      if (symbol !== endOfString) codes[symbol] = code;
      code++;
    }
  }
  firstSymbol[maxCodeLength + 1] = at;
  return {
    codes,
    lengths: Uint8Array.from(lengths.slice(0, endOfString)),
    symbols: Uint16Array.from(ordered, ({ symbol }) => symbol),
    firstCode,
    firstSymbol,
  };
}
