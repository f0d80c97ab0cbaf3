import { parse } from 'yaml';

/** A value of the chart, and what its comment says. */
export interface ChartValue {
  /** Keys joined by dots. */
  readonly name: string;
  readonly description: string;
  readonly default: unknown;
}

/**
 * The values of a `values.yaml`, which has a comment above each value or above the map that contains it. Throws for a
 * value without one.
 */
export function readChartValues(text: string): readonly ChartValue[] {
  const values: ChartValue[] = [];
  const all: unknown = parse(text);
  const parents: { readonly indent: number; readonly key: string; readonly documented: boolean }[] = [];
  let comment: string[] = [];
  let textIndent = -1;
  for (const line of text.split('\n')) {
    const indent = line.search(/\S/);
    if (indent < 0) continue;
    if (textIndent >= 0 && indent > textIndent) continue;
    textIndent = -1;
    const [, note] = /^\s*# ?(.*)$/.exec(line) ?? [];
    if (note !== undefined) {
      comment.push(note);
      continue;
    }
    const [, key = '', rest = ''] = /^\s*([A-Za-z]+):(.*)$/.exec(line) ?? [];
    while ((parents.at(-1)?.indent ?? -1) >= indent) parents.pop();
    const path = [...parents.map((parent) => parent.key), key];
    const documented = comment.length > 0;
    const covered = parents.some((parent) => parent.documented);
    if (documented) values.push({ name: path.join('.'), description: comment.join(' '), default: valueAt(all, path) });
    else if (rest.trim() !== '' && !covered) throw new Error(`values.yaml: ${path.join('.')} has no comment`);
    if (rest.trim() === '|') textIndent = indent;
    parents.push({ indent, key, documented });
    comment = [];
  }
  return values;
}

function valueAt(all: unknown, path: readonly string[]): unknown {
  return path.reduce((value, key) => (value as Record<string, unknown>)[key], all);
}

export function valuesTable(values: readonly ChartValue[]): string {
  const rows = values.map(({ name, description, default: value }) => {
    const shown =
      typeof value === 'string' && value.includes('\n') ? 'see values.yaml' : `\`${JSON.stringify(value)}\``;
    return `| \`${name}\` | ${shown} | ${description} |`;
  });
  return ['| value | default | what it does |', '|---|---|---|', ...rows].join('\n');
}
