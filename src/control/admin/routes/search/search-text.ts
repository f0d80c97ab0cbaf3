/** A text by which a row is found. */
export interface SearchText {
  readonly field: string;
  readonly value: string;
}

/** What was found in a row: the text that fits best, and how well. Lower is better. */
export interface TextMatch extends SearchText {
  readonly rank: number;
}

/** Longest query, in characters, and how many words of it count. */
export const maxQuery = 200;
const maxWords = 8;

/** The words of a query, in lower case. */
export function wordsOf(query: string): readonly string[] {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords);
}

/** Null: some word is in none of the texts. Earlier texts win among those that fit equally well. */
export function matchTexts(texts: readonly SearchText[], words: readonly string[]): TextMatch | null {
  let best: TextMatch | null = null;
  let total = 0;
  for (const word of words) {
    const found = bestOf(texts, word);
    if (found === null) return null;
    total += found.rank;
    if (best === null || found.rank < best.rank) best = found;
  }
  return best === null ? null : { ...best, rank: total };
}

function bestOf(texts: readonly SearchText[], word: string): TextMatch | null {
  let best: TextMatch | null = null;
  for (const text of texts) {
    const rank = rankOf(text, word);
    if (rank !== null && (best === null || rank < best.rank)) best = { ...text, rank };
  }
  return best;
}

/** Characters of an id that make it worth a search: fewer occur in any id. */
const minIdLength = 4;

function rankOf({ field, value }: SearchText, word: string): number | null {
  const text = value.toLowerCase();
  const at = text.indexOf(word);
  if (at < 0 || (field === 'id' && (at > 0 || word.length < minIdLength))) return null;
  if (text === word) return 0;
  if (at === 0) return 1;
  return /[\p{L}\p{N}]/u.test(text.charAt(at - 1)) ? 3 : 2;
}
