import { contains, onlyMember } from '../../shared/util/regex/char-set.ts';
import type { RegexNode } from '../../shared/util/regex/regex-node.ts';
import { SKIP_SEGMENT } from './radix-trie.ts';

const SLASH = 0x2f;

/**
 * A trie key that is a prefix of every path that the anchored expression matches: its literal text as far as it is
 * certain, with `SKIP_SEGMENT` for parts that stay inside one segment. `/users/(?<id>\d+)/orders$` gives
 * `/users/<skip>/orders`, so that only the expressions that can match a path are evaluated.
 */
export function regexTrieKey(root: RegexNode): string {
  const writer = { key: '', skipping: false };
  append(root, writer);
  return writer.key.endsWith(SKIP_SEGMENT) ? writer.key.slice(0, -1) : writer.key;
}

interface KeyWriter {
  key: string;
  /** After a `SKIP_SEGMENT`, until a `/` is certain to follow. */
  skipping: boolean;
}

/** Returns false when what follows is not certain. */
function append(node: RegexNode, writer: KeyWriter): boolean {
  switch (node.kind) {
    case 'char':
      return appendChar(onlyMember(node.set), contains(node.set, SLASH), writer);
    case 'assert':
      return node.what !== 'start' || writer.key === '';
    case 'group':
      return append(node.item, writer);
    case 'sequence':
      return node.items.every((item) => append(item, writer));
    case 'choice':
      return staysInSegment(node) && skip(writer);
    case 'repeat':
      if (staysInSegment(node.item)) return skip(writer);
      if (node.min >= 1) append(node.item, writer);
      return false;
  }
}

function appendChar(only: number, canBeSlash: boolean, writer: KeyWriter): boolean {
  if (only >= 0 && only <= 0xff) {
    if (writer.skipping && only !== SLASH) return true;
    writer.key += String.fromCharCode(only);
    writer.skipping = false;
    return true;
  }
  return !canBeSlash && skip(writer);
}

function skip(writer: KeyWriter): boolean {
  if (!writer.skipping) writer.key += SKIP_SEGMENT;
  writer.skipping = true;
  return true;
}

function staysInSegment(node: RegexNode): boolean {
  switch (node.kind) {
    case 'char':
      return !contains(node.set, SLASH);
    case 'assert':
      return true;
    case 'group':
    case 'repeat':
      return staysInSegment(node.item);
    case 'sequence':
      return node.items.every(staysInSegment);
    case 'choice':
      return node.options.every(staysInSegment);
  }
}
