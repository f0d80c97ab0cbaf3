import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceGenerated } from '../../src/shared/schema/export/generated-block.ts';
import { chartFolder } from '../lib/deploy/chart.ts';
import { readChartValues, valuesTable } from '../lib/deploy/values-table.ts';
import { root } from '../lib/files.ts';
import type { Generator } from '../lib/generated-file.ts';

/** The table of values in the README of the chart. */
export const generateChartReadme: Generator = async () => {
  const read = (name: string): string => readFileSync(join(root, chartFolder, name), 'utf8');
  const table = valuesTable(readChartValues(read('values.yaml')));
  return [{ path: `${chartFolder}/README.md`, content: replaceGenerated(read('README.md'), table) }];
};
