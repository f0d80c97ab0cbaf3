/** In a key: any text up to the next `/` or the end. No latin1 text contains it. */
export const SKIP_SEGMENT = '\u0100';

const SKIP_CODE = 0x100;
const SLASH = '/';

/**
 * Values by key; `collect` finds those whose key is a prefix of a text, in time that depends only on the text. Keys and
 * texts are latin1. A trie of suffixes holds reversed keys and reads texts backwards.
 *
 * A fork shares all nodes with the trie that it comes from, and copies those that it changes: each node names the edition that may
 * change it.
 */
export class RadixTrie<V> {
  readonly edition: number;
  private root: TrieNode<V>;

  constructor(edition = 0, root = new TrieNode<V>('', edition)) {
    this.edition = edition;
    this.root = root;
  }

  /** A trie with the same values. From here on the two must not have the same edition, and this one must not be changed. */
  fork(edition: number): RadixTrie<V> {
    return new RadixTrie(edition, this.root);
  }

  /** A trie that shares nothing with this one. */
  copy(edition: number, copyValue: (value: V) => V): RadixTrie<V> {
    return new RadixTrie(edition, this.root.deepCopy(edition, copyValue));
  }

  get isEmpty(): boolean {
    return this.root.value === null && isBare(this.root);
  }

  get(key: string): V | null {
    const path = this.pathTo(key);
    return path === null ? null : path[path.length - 1]!.value;
  }

  set(key: string, value: V): void {
    let node = this.ownRoot();
    for (let at = 0; at < key.length; ) {
      if (key.charCodeAt(at) === SKIP_CODE) {
        node.skip = node.skip?.owned(this.edition) ?? new TrieNode<V>('', this.edition);
        node = node.skip;
        at++;
      } else {
        node = descend(node, key.slice(at, literalEnd(key, at)));
        at += node.label.length;
      }
    }
    node.value = value;
  }

  delete(key: string): void {
    const path = this.pathTo(key);
    if (path === null) return;
    path[0] = this.ownRoot();
    for (let depth = 1; depth < path.length; depth++) path[depth] = path[depth - 1]!.ownChild(path[depth]!);
    path[path.length - 1]!.value = null;
    for (let depth = path.length - 1; depth > 0; depth--) {
      if (!prune(path[depth - 1]!, path[depth]!)) return;
    }
  }

  /** Writes the values whose key is a prefix of `text` to `out`, shortest key first, and returns their number. */
  collect(text: string, out: V[]): number {
    return collectFrom(this.root, text, 0, out, 0);
  }

  /** As `collect`, for reversed keys that are suffixes of `text`. */
  collectSuffixes(text: string, out: V[], from: number): number {
    let node = this.root;
    let count = from;
    let left = text.length;
    for (;;) {
      if (node.value !== null) out[count++] = node.value;
      if (left === 0) return count;
      const child = node.child(text.charCodeAt(left - 1));
      if (child === null || child.label.length > left) return count;
      for (let i = 1; i < child.label.length; i++) {
        if (text.charCodeAt(left - 1 - i) !== child.label.charCodeAt(i)) return count;
      }
      left -= child.label.length;
      node = child;
    }
  }

  private ownRoot(): TrieNode<V> {
    this.root = this.root.owned(this.edition);
    return this.root;
  }

  /** The nodes from the root to the one of exactly this key, or null. */
  private pathTo(key: string): TrieNode<V>[] | null {
    const path = [this.root];
    let node = this.root;
    for (let at = 0; at < key.length; ) {
      const skips = key.charCodeAt(at) === SKIP_CODE;
      const next = skips ? node.skip : node.child(key.charCodeAt(at));
      if (next === null || (!skips && !key.startsWith(next.label, at))) return null;
      at += skips ? 1 : next.label.length;
      path.push(next);
      node = next;
    }
    return path;
  }
}

class TrieNode<V> {
  readonly edition: number;
  label: string;
  value: V | null = null;
  /** The subtree behind a skipped segment. */
  skip: TrieNode<V> | null = null;
  childCount = 0;
  /** Children by first char code; `base` is the code of the first slot. */
  private base = 0;
  private slots: (TrieNode<V> | null)[] = [];

  constructor(label: string, edition: number) {
    this.label = label;
    this.edition = edition;
  }

  /** This node if the edition may change it, else a copy that it may change. */
  owned(edition: number): TrieNode<V> {
    if (this.edition === edition) return this;
    const copy = new TrieNode<V>(this.label, edition);
    copy.value = this.value;
    copy.skip = this.skip;
    copy.childCount = this.childCount;
    copy.base = this.base;
    copy.slots = this.slots.slice();
    return copy;
  }

  /** The child, in a form that may be changed as this node may be. */
  ownChild(child: TrieNode<V>): TrieNode<V> {
    const owned = child.owned(this.edition);
    if (owned === child) return child;
    if (this.skip === child) this.skip = owned;
    else this.setChild(owned);
    return owned;
  }

  deepCopy(edition: number, copyValue: (value: V) => V): TrieNode<V> {
    const copy = new TrieNode<V>(this.label, edition);
    copy.value = this.value === null ? null : copyValue(this.value);
    copy.skip = this.skip?.deepCopy(edition, copyValue) ?? null;
    copy.childCount = this.childCount;
    copy.base = this.base;
    copy.slots = this.slots.map((child) => child?.deepCopy(edition, copyValue) ?? null);
    return copy;
  }

  child(code: number): TrieNode<V> | null {
    const slot = code - this.base;
    return slot >= 0 && slot < this.slots.length ? this.slots[slot]! : null;
  }

  onlyChild(): TrieNode<V> {
    return this.slots.find((child) => child !== null)!;
  }

  /** Adds the child, or replaces the one with the same first char. */
  setChild(child: TrieNode<V>): void {
    const code = child.label.charCodeAt(0);
    if (this.slots.length === 0) this.base = code;
    while (code < this.base) {
      this.slots.unshift(null);
      this.base--;
    }
    while (code >= this.base + this.slots.length) this.slots.push(null);
    if (this.slots[code - this.base] === null) this.childCount++;
    this.slots[code - this.base] = child;
  }

  removeChild(child: TrieNode<V>): void {
    this.slots[child.label.charCodeAt(0) - this.base] = null;
    this.childCount--;
    if (this.childCount === 0) this.slots = [];
  }
}

function collectFrom<V>(start: TrieNode<V>, text: string, from: number, out: V[], found: number): number {
  let node = start;
  let at = from;
  let count = found;
  for (;;) {
    if (node.value !== null) out[count++] = node.value;
    if (node.skip !== null) {
      const slash = text.indexOf(SLASH, at);
      count = collectFrom(node.skip, text, slash < 0 ? text.length : slash, out, count);
    }
    if (at >= text.length) return count;
    const child = node.child(text.charCodeAt(at));
    if (child === null) return count;
    const { label } = child;
    if (label.length > text.length - at) return count;
    for (let i = 1; i < label.length; i++) {
      if (text.charCodeAt(at + i) !== label.charCodeAt(i)) return count;
    }
    at += label.length;
    node = child;
  }
}

/** The node for the longest part of `literal` that one edge can hold; splits an edge where needed. `node` may be changed. */
function descend<V>(node: TrieNode<V>, literal: string): TrieNode<V> {
  const child = node.child(literal.charCodeAt(0));
  if (child === null) {
    const added = new TrieNode<V>(literal, node.edition);
    node.setChild(added);
    return added;
  }
  const common = commonLength(child.label, literal);
  if (common === child.label.length) return node.ownChild(child);
  const middle = new TrieNode<V>(child.label.slice(0, common), node.edition);
  const rest = child.owned(node.edition);
  rest.label = rest.label.slice(common);
  middle.setChild(rest);
  node.setChild(middle);
  return middle;
}

/** Removes or merges a node that is no longer needed; false when it stays. */
function prune<V>(parent: TrieNode<V>, node: TrieNode<V>): boolean {
  if (node.value !== null || node.skip !== null || node.childCount > 1) return false;
  if (node.childCount === 0) {
    if (parent.skip === node) parent.skip = null;
    else parent.removeChild(node);
    return true;
  }
  if (parent.skip === node) return false;
  const child = node.onlyChild().owned(node.edition);
  child.label = node.label + child.label;
  parent.setChild(child);
  return false;
}

function isBare<V>(node: TrieNode<V>): boolean {
  return node.skip === null && node.childCount === 0;
}

function literalEnd(key: string, from: number): number {
  const skip = key.indexOf(SKIP_SEGMENT, from);
  return skip < 0 ? key.length : skip;
}

function commonLength(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let i = 0;
  while (i < limit && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}
