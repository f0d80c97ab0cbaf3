// Writes every generated file; with --check, only tells which are out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateChartReadme } from './generators/chart-readme.ts';
import { generateConfigTypes } from './generators/config-types.ts';
import { generateDifferenceRows } from './generators/difference-rows.ts';
import { generateEntityPage } from './generators/entity-page.ts';
import { generateGrafanaDashboards } from './generators/grafana-dashboards.ts';
import { generatePluginRegistry } from './generators/plugin-registry.ts';
import { generatePluginTables } from './generators/plugin-tables.ts';
import { generateSettingsPage } from './generators/settings-page.ts';
import { generateSizingPage } from './generators/sizing-page.ts';
import { root } from './lib/files.ts';
import type { GeneratedFile } from './lib/generated-file.ts';
import { finish } from './lib/report.ts';

const generators = [
  generateConfigTypes,
  generatePluginRegistry,
  generatePluginTables,
  generateSettingsPage,
  generateEntityPage,
  generateGrafanaDashboards,
  generateChartReadme,
  generateDifferenceRows,
  generateSizingPage,
];
const files = (await Promise.all(generators.map((generate) => generate()))).flat();
const stale = files.filter(isStale);

if (process.argv.includes('--check')) {
  finish(
    `${files.length} generated files are up to date`,
    stale.map((file) => `${file.path} is out of date: run "npm run generate"`),
  );
} else {
  for (const { path, content } of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  finish(stale.length === 0 ? 'nothing to do' : `written: ${stale.map((file) => file.path).join(', ')}`, []);
}

function isStale({ path, content }: GeneratedFile): boolean {
  const full = join(root, path);
  return !existsSync(full) || readFileSync(full, 'utf8') !== content;
}
