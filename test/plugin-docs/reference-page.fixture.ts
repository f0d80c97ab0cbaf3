import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '../../docs');

/** A row of a table of docs/plugin-reference.md. */
export interface ReferenceRow {
  readonly member: string;
  readonly text: string;
  /** TypeScript. */
  readonly example: string;
}

/** The table of one interface. */
export interface ReferenceTable {
  readonly name: string;
  /** What the examples call a value of it; null: they are members of one. */
  readonly variable: string | null;
  readonly rows: readonly ReferenceRow[];
}

export function page(name: string): string {
  return readFileSync(join(docs, name), 'utf8');
}

export function referenceTables(): readonly ReferenceTable[] {
  return page('plugin-reference.md').split(/^### /m).slice(1).map(tableOf);
}

function tableOf(section: string): ReferenceTable {
  const rows = [...section.matchAll(/^\| `([\w.]+)` \| (.*?) \| (`+)(.*)\3 \|$/gm)];
  return {
    name: section.slice(0, section.indexOf('\n')).trim(),
    variable: /\| example, with `(\w+)` \|/.exec(section)?.[1] ?? null,
    rows: rows.map(([, member = '', text = '', , example = '']) => ({
      member,
      text,
      example: example.trim().replaceAll('\\|', '|'),
    })),
  };
}

/** The TypeScript of a page, one text for each block. */
export function codeBlocks(name: string): readonly string[] {
  return [...page(name).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
}
