import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/files.ts';
import type { Generator } from '../lib/generated-file.ts';

const page = 'docs/differences.md';

const head = `// biome-ignore-all format: as it is generated
// Generated from ${page} by \`npm run generate\`. Do not edit.
import type { DifferenceRow } from './difference-row.ts';

export const differenceRows = {
`;

const foot = `} as const satisfies Readonly<Record<string, DifferenceRow>>;

/** A row of ${page}: \`<section>: <topic>\`. */
export type DifferenceName = keyof typeof differenceRows;
`;

/** The rows of the page of differences, for the report of \`import kong\`: what it cites exists, or the types do not fit. */
export const generateDifferenceRows: Generator = async () => {
  const rows = readRows(readFileSync(join(root, page), 'utf8'));
  const content = `${head}${rows.map(entryOf).join('')}${foot}`;
  return [{ path: 'src/cli/import/kong/differences/difference-rows.ts', content }];
};

interface Row {
  readonly section: string;
  readonly cells: readonly string[];
}

function readRows(text: string): readonly Row[] {
  let section = '';
  const rows: Row[] = [];
  for (const line of text.split('\n')) {
    const title = /^#{2,3} (.+)$/.exec(line)?.[1];
    if (title !== undefined) section = title;
    const cells = cellsOf(line);
    if (cells !== null) rows.push({ section, cells });
  }
  const names = rows.map(nameOf);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`${page}: two rows have the name '${twice}'`);
  return rows;
}

function cellsOf(line: string): readonly string[] | null {
  if (!line.startsWith('| ') || line.startsWith('| |') || !line.endsWith(' |')) return null;
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => plain(cell.trim()));
}

/** A terminal shows no links and no escapes. */
function plain(cell: string): string {
  return cell.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('\\|', '|');
}

function nameOf({ section, cells: [topic] }: Row): string {
  return `${section}: ${topic}`;
}

function entryOf(row: Row): string {
  const [topic = '', kong = '', sluicegate = '', why = ''] = row.cells;
  return `  ${JSON.stringify(nameOf(row))}: ${JSON.stringify({ section: row.section, topic, kong, sluicegate, why })},\n`;
}
