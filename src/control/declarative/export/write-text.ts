import { dump } from 'js-yaml';

type Fields = Readonly<Record<string, unknown>>;

export function jsonText(content: Fields): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Written entity by entity: the whole would need ten times the memory of the text. */
export function yamlText(content: Fields, quoteStyle: 'single' | 'double'): string {
  const options = { seqNoIndent: true, lineWidth: -1, noRefs: true, quoteStyle } as const;
  const pieces: string[] = [];
  for (const [key, value] of Object.entries(content)) {
    if (!Array.isArray(value) || value.length === 0) pieces.push(dump({ [key]: value }, options));
    else {
      pieces.push(`${key}:\n`);
      for (const item of value) pieces.push(dump([item], options));
    }
  }
  return pieces.join('');
}
