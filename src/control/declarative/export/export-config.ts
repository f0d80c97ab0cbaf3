import type { ConfigRows } from '../contract.ts';
import { deckContent } from './deck-content.ts';
import type { ExportOptions } from './export-options.ts';
import { kongContent } from './kong-content.ts';
import { jsonText, yamlText } from './write-text.ts';

/** A document that declares these rows, which may contain secrets. Declared over the same rows, it changes nothing. */
export function exportConfig(rows: ConfigRows, options: ExportOptions): string {
  const content = options.style === 'kong' ? kongContent(rows, options) : deckContent(rows, options);
  if (options.format === 'json') return jsonText(content);
  return yamlText(content, options.style === 'kong' ? 'single' : 'deck');
}
