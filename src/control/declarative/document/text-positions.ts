import type { DocumentPath, TextPosition } from '../contract.ts';
import { jsonOutline } from './json-outline.ts';
import type { Outline, Place } from './outline.ts';
import { lineIndex } from './text-lines.ts';
import { yamlOutline } from './yaml-outline.ts';
import type { YamlPiece } from './yaml-pieces.ts';

/** How the text was read. */
export type TextForm =
  | { readonly format: 'json' }
  | { readonly format: 'yaml'; readonly pieces: readonly YamlPiece[] | null };

/** Where the values of a valid text begin. Nothing is read before the first question: most documents are valid. */
export function textPositions(text: string, form: TextForm): (path: DocumentPath) => TextPosition | null {
  let lookup: ((path: DocumentPath) => number) | null = null;
  let lines: ((offset: number) => TextPosition) | null = null;
  return (path) => {
    lookup ??= lookupFor(text, form);
    lines ??= lineIndex(text);
    return lines(lookup(path));
  };
}

function lookupFor(text: string, form: TextForm): (path: DocumentPath) => number {
  if (form.format === 'json') return createLookup(jsonOutline(text));
  return form.pieces === null ? createLookup(yamlOutline(text)) : lookupInPieces(text, form.pieces);
}

/** Pieces whose structure is kept: problems are often close to each other. */
const maxOutlines = 16;

function lookupInPieces(text: string, pieces: readonly YamlPiece[]): (path: DocumentPath) => number {
  const lookups = new Map<YamlPiece, (path: DocumentPath) => number>();

  function lookupIn(piece: YamlPiece): (path: DocumentPath) => number {
    let lookup = lookups.get(piece);
    if (lookup === undefined) {
      lookup = createLookup(yamlOutline(text.slice(piece.start, piece.end)));
      const [oldest] = lookups.keys();
      if (lookups.size === maxOutlines && oldest !== undefined) lookups.delete(oldest);
      lookups.set(piece, lookup);
    }
    return lookup;
  }

  return ([key, index, ...rest]) => {
    const piece = pieces.find(
      ({ key: own, elements }) =>
        own === key &&
        (elements === null ||
          index === undefined ||
          (Number(index) >= elements.first && Number(index) < elements.first + elements.count)),
    );
    if (key === undefined || piece === undefined) return 0;
    if (index === undefined) return piece.keyStart;
    const inner = piece.elements === null ? [key, index, ...rest] : [Number(index) - piece.elements.first, ...rest];
    return piece.start + lookupIn(piece)(inner);
  };
}

/** Offsets by path. */
function createLookup(outline: Outline): (path: DocumentPath) => number {
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
    return place.start;
  };
}
