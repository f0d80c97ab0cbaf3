/** The parts of Markdown that READMEs of plugins have. Nothing becomes HTML: what is no such part is a text. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

export function markdownBlocks(source: string): readonly Block[] {
  const lines = source.replace(/<!--[\s\S]*?-->/g, '').split('\n');
  const blocks: Block[] = [];
  let at = 0;
  /** Lines from here on for which the condition holds. */
  function take(condition: (line: string) => boolean): readonly string[] {
    const first = at;
    while (at < lines.length && condition(lines[at] ?? '')) at++;
    return lines.slice(first, at);
  }
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trim() === '') at++;
    else if (heading !== null) {
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' });
      at++;
    } else if (line.startsWith('```')) {
      at++;
      blocks.push({ kind: 'code', text: take((one) => !one.startsWith('```')).join('\n') });
      at++;
    } else if (line.startsWith('|')) {
      const [head = [], , ...rows] = take((one) => one.startsWith('|')).map(cellsOf);
      blocks.push({ kind: 'table', head, rows });
    } else if (itemStart.test(line)) {
      const taken = take((one) => itemStart.test(one) || /^\s+\S/.test(one));
      blocks.push({ kind: 'list', ordered: /^\d/.test(line), items: itemsOf(taken) });
    } else {
      blocks.push({
        kind: 'paragraph',
        text: take((one) => one.trim() !== '' && !/^(?:```|\||#{1,6}\s)/.test(one) && !itemStart.test(one)).join(' '),
      });
    }
  }
  return blocks;
}

const itemStart = /^(?:[-*]|\d+\.)\s+/;

/** Lines that continue an item belong to it. */
function itemsOf(lines: readonly string[]): readonly string[] {
  const items: string[] = [];
  for (const line of lines) {
    if (itemStart.test(line)) items.push(line.replace(itemStart, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return items;
}

/** A bar within code or after a backslash separates no cells. */
function cellsOf(line: string): readonly string[] {
  const cells =
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .match(/(?:\\.|`[^`]*`|[^|\\])+|(?<=\|)(?=\|)/g) ?? [];
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** A part of a text. */
export type Inline =
  | { readonly kind: 'text' | 'code' | 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly target: string };

export function inlineParts(source: string): readonly Inline[] {
  const parts: Inline[] = [];
  let end = 0;
  for (const match of source.matchAll(
    /`([^`]+)`|\*\*([^*]+)\*\*|\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]*)\)|<(https?:[^>\s]+)>/g,
  )) {
    const [whole, code, strong, label, target, address] = match;
    if (match.index > end) parts.push({ kind: 'text', text: source.slice(end, match.index) });
    end = match.index + whole.length;
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (strong !== undefined) parts.push({ kind: 'strong', text: strong });
    else
      parts.push({ kind: 'link', text: (label ?? address ?? '').replaceAll('`', ''), target: target ?? address ?? '' });
  }
  if (end < source.length) parts.push({ kind: 'text', text: source.slice(end) });
  return parts;
}

/** The first paragraph, without its marks. */
export function summaryOfReadme(readme: string): string {
  const first = markdownBlocks(readme).find(({ kind }) => kind === 'paragraph');
  return first?.kind === 'paragraph'
    ? inlineParts(first.text)
        .map(({ text }) => text)
        .join('')
    : '';
}
