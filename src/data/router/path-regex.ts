import { buildRegex } from '../../shared/util/linear-regex.ts';
import { parseRegex } from '../../shared/util/regex/parse-regex.ts';
import type { RegexNode } from '../../shared/util/regex/regex-node.ts';
import { regexTrieKey } from './regex-trie-key.ts';

export interface PathRegex {
  /** Anchored at the beginning. */
  readonly regex: RegExp;
  readonly key: string;
}

/** Compiles the expression of a route path (without its `~`). */
export function compilePathRegex(source: string): PathRegex {
  try {
    const body = parseRegex(source, { ignoreCase: false, dotAll: false, bytes: true });
    const anchored: RegexNode = { kind: 'sequence', items: [{ kind: 'assert', what: 'start' }, body] };
    return { regex: buildRegex(anchored), key: regexTrieKey(anchored) };
  } catch (error) {
    throw new Error(`path '~${source}': invalid regex: ${(error as Error).message}`, { cause: error });
  }
}
