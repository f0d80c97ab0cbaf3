/** The file of each part that `index.ts` of a plugin loads when it is needed: `metrics: () => import('./metrics.ts')`. */
const loadedParts = {
  schema: 'schema.ts',
  entities: 'entities.ts',
  adminRoutes: 'admin.ts',
  background: 'background.ts',
  metrics: 'metrics.ts',
};

/** The parts of a plugin that are not in the file that every plugin has them in. `index`: the text of its `index.ts`. */
export function misplacedParts(index: string, isThere: (file: string) => boolean): readonly string[] {
  const found: string[] = [];
  for (const [part, file] of Object.entries(loadedParts)) {
    const isDeclared = new RegExp(`^  ${part}\\b`, 'm').test(index);
    const isLoaded = index.includes(`  ${part}: () => import('./${file}'),\n`);
    if (isDeclared && !isLoaded) found.push(`index.ts must declare ${part} as () => import('./${file}')`);
    if (!isDeclared && isThere(file)) found.push(`${file} is for ${part}, which index.ts does not declare`);
  }
  const declaresZones = /^ {2}zones\b/m.test(index);
  const importsZones = index.includes("import { zones } from './zones.ts';\n") && /^ {2}zones,$/m.test(index);
  if (declaresZones && !importsZones) found.push("index.ts must import zones from './zones.ts'");
  if (!declaresZones && isThere('zones.ts')) found.push('zones.ts is for zones, which index.ts does not declare');
  return found;
}
