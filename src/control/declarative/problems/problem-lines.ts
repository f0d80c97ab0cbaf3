import type { ErrorNode } from '../../../shared/schema/validate.ts';
import type { ConfigProblem, DocumentPath, TextPosition } from '../contract.ts';

/** One message about a document, and where it belongs. */
export interface PlacedMessage {
  /** From the root of the document. */
  readonly path: DocumentPath;
  readonly position: TextPosition | null;
  readonly message: string;
}

export function placedMessages(problems: readonly ConfigProblem[]): readonly PlacedMessage[] {
  return problems.flatMap((problem) => {
    const found: { readonly path: DocumentPath; readonly message: string }[] = [];
    collect(problem.errors, [], found);
    return found.map(({ path, message }) => ({
      path: [...problem.path, ...path],
      position: problem.positionIn?.(path) ?? problem.position,
      message,
    }));
  });
}

/** One line for each message: `line 12: services[0].routes[1].paths: message`. Positions in paths are from 0. */
export function problemLines(problems: readonly ConfigProblem[]): readonly string[] {
  return placedMessages(problems).map(({ path, position, message }) => {
    const place = placeText(path);
    return `${position === null ? '' : `line ${position.line}: `}${place === '' ? '' : `${place}: `}${message}`;
  });
}

/** `services[0].routes[1].paths`. */
export function placeText(path: DocumentPath): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}

function collect(node: ErrorNode | null, path: DocumentPath, found: { path: DocumentPath; message: string }[]): void {
  if (node === null) return;
  if (typeof node === 'string') found.push({ path, message: node.replaceAll(/\s+/g, ' ') });
  else if (Array.isArray(node)) {
    for (const [index, item] of node.entries()) collect(item, [...path, index], found);
  } else {
    for (const [key, item] of Object.entries(node)) {
      if (key !== '@entity') collect(item, [...path, key], found);
      else for (const text of Array.isArray(item) ? item : [item]) collect(text, path, found);
    }
  }
}
