import type { DocumentPath, TextPosition } from '../contract.ts';
import { jsonOutline } from './json-outline.ts';
import type { Outline, Place } from './outline.ts';
import { lineIndex } from './text-lines.ts';
import { yamlOutline } from './yaml-outline.ts';

/** Where the values of a valid text begin. Nothing is read before the first question: most documents are valid. */
export function textPositions(text: string, format: 'json' | 'yaml'): (path: DocumentPath) => TextPosition | null {
  let lookup: ((path: DocumentPath) => TextPosition) | null = null;
  return (path) => {
    lookup ??= createLookup(text, format === 'json' ? jsonOutline(text) : yamlOutline(text));
    return lookup(path);
  };
}

function createLookup(text: string, outline: Outline): (path: DocumentPath) => TextPosition {
  const lines = lineIndex(text);
  const known = new Map<number, ReadonlyMap<string | number, Place> | null>();

  function childrenOf(node: number): ReadonlyMap<string | number, Place> | null {
    let children = known.get(node);
    if (children === undefined) {
      children = outline.children(node);
      known.set(node, children);
    }
    return children;
  }

  return (path) => {
    let place = outline.root;
    for (const step of path) {
      const next = childrenOf(place.node)?.get(step);
      if (next === undefined) break;
      place = next;
    }
    return lines(place.start);
  };
}
