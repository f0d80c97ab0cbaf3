const start = '<!-- generated: do not edit from here -->';
const end = '<!-- generated: to here -->';

/** Replaces what stands between the two markers, or adds both at the end. */
export function replaceGenerated(text: string, content: string): string {
  const block = `${start}\n\n${content.trim()}\n\n${end}`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) return `${text.trimEnd()}\n\n${block}\n`;
  return text.slice(0, from) + block + text.slice(to + end.length);
}
