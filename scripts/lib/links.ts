/** A link of a Markdown file to a file of the project. */
export interface Link {
  readonly line: number;
  /** Relative to the file that has the link. Empty for a heading of the same file. */
  readonly path: string;
  /** The heading behind `#`, or null. */
  readonly heading: string | null;
}

/** Relative links of a Markdown text; those inside code are no links. */
export function scanLinks(markdown: string): readonly Link[] {
  return linesOutsideFences(markdown).flatMap(([line, text]) =>
    [...text.replace(/`[^`]*`/g, '').matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
      .map((target) => {
        const [path = '', heading = null] = target.split('#', 2);
        return { line, path: decodeURIComponent(path), heading };
      }),
  );
}

/** The names under which the headings of a Markdown text can be linked to. */
export function headingsOf(markdown: string): ReadonlySet<string> {
  return new Set(
    linesOutsideFences(markdown)
      .map(([, text]) => /^#{1,6}\s+(.+?)\s*#*$/.exec(text)?.[1])
      .filter((title) => title !== undefined)
      .map((title) =>
        title
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replace(/\s/g, '-'),
      ),
  );
}

function linesOutsideFences(markdown: string): readonly (readonly [number, string])[] {
  const lines: [number, string][] = [];
  let fence: string | null = null;
  for (const [index, text] of markdown.split('\n').entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(text)?.[1] ?? null;
    if (mark !== null && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null;
    else if (fence === null) lines.push([index + 1, text]);
  }
  return lines;
}
