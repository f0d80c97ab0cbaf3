import type { CharSet } from './char-set.ts';
import { isNullable, type RegexNode } from './regex-node.ts';

/** Bit i represents code unit i; bit 256 all above. */
type Mask = bigint;

const ABOVE_BYTE = 1n << 256n;
const NOTHING = 0n;

/**
 * True when the next character alone decides every choice of the expression. Then the branch not taken always fails
 * on its first character, so a backtracking engine needs time linear in the text (for one starting position).
 */
export function isDeterministic(root: RegexNode): boolean {
  return check(root, NOTHING);
}

/** `follow`: the characters that can come right after the node. */
function check(node: RegexNode, follow: Mask): boolean {
  switch (node.kind) {
    case 'char':
    case 'assert':
      return true;
    case 'group':
      return check(node.item, follow);
    case 'sequence':
      return checkSequence(node.items, follow);
    case 'choice':
      return checkChoice(node.options, follow);
    case 'repeat': {
      const first = firstMask(node.item);
      // An empty iteration could be taken or skipped at every position: that multiplies the paths.
      if (isNullable(node.item)) return false;
      if (node.min !== node.max && (first & follow) !== NOTHING) return false;
      return check(node.item, node.max > 1 ? first | follow : follow);
    }
  }
}

function checkSequence(items: readonly RegexNode[], follow: Mask): boolean {
  let after = follow;
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i]!;
    if (!check(item, after)) return false;
    after = firstMask(item) | (isNullable(item) ? after : NOTHING);
  }
  return true;
}

function checkChoice(options: readonly RegexNode[], follow: Mask): boolean {
  let seen = NOTHING;
  let nullable = 0;
  for (const option of options) {
    const empty = isNullable(option);
    if (empty && ++nullable > 1) return false;
    const first = firstMask(option) | (empty ? follow : NOTHING);
    if ((seen & first) !== NOTHING || !check(option, follow)) return false;
    seen |= first;
  }
  return true;
}

function firstMask(node: RegexNode): Mask {
  switch (node.kind) {
    case 'char':
      return toMask(node.set);
    case 'assert':
      return NOTHING;
    case 'group':
      return firstMask(node.item);
    case 'repeat':
      return node.max === 0 ? NOTHING : firstMask(node.item);
    case 'choice':
      return node.options.reduce((mask, option) => mask | firstMask(option), NOTHING);
    case 'sequence': {
      let mask = NOTHING;
      for (const item of node.items) {
        mask |= firstMask(item);
        if (!isNullable(item)) break;
      }
      return mask;
    }
  }
}

function toMask(set: CharSet): Mask {
  let mask = NOTHING;
  for (let i = 0; i < set.length; i += 2) {
    const from = set[i]!;
    const to = set[i + 1]!;
    if (to > 255) mask |= ABOVE_BYTE;
    if (from > 255) continue;
    const end = BigInt(Math.min(to, 255) + 1);
    mask |= (1n << end) - (1n << BigInt(from));
  }
  return mask;
}
