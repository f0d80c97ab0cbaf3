import type { ImportMap } from './import-law.ts';
import { resolveImport } from './import-law.ts';

/**
 * Files that import each other in a circle, each as one closed walk. Types may refer to each other, as they are gone when
 * the program runs; `withTypes` shows those circles too.
 */
export function findCircles(imports: ImportMap, withTypes = false): readonly (readonly string[])[] {
  const done = new Set<string>();
  const circles: (readonly string[])[] = [];
  const path: string[] = [];
  const onPath = new Set<string>();

  const visit = (file: string): void => {
    if (onPath.has(file)) {
      circles.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    if (done.has(file)) return;
    done.add(file);
    path.push(file);
    onPath.add(file);
    for (const next of targets(file, imports, withTypes)) visit(next);
    path.pop();
    onPath.delete(file);
  };

  for (const file of imports.keys()) visit(file);
  return circles;
}

function targets(file: string, imports: ImportMap, withTypes: boolean): readonly string[] {
  const list = imports.get(file) ?? [];
  return list
    .filter((entry) => !entry.dynamic && (withTypes || !entry.typeOnly) && entry.specifier.startsWith('.'))
    .map((entry) => resolveImport(file, entry.specifier))
    .filter((target) => imports.has(target));
}
