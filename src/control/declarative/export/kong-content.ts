import { foreignId } from '../../../shared/entities/row-fields.ts';
import type { ConfigRows } from '../contract.ts';
import type { ExportOptions } from './export-options.ts';
import { shownFields } from './shown-fields.ts';

/** Flat: lists of complete entities in the order in which they may be created; references are ids. */
export function kongContent(rows: ConfigRows, { entities, now }: ExportOptions): Readonly<Record<string, unknown>> {
  const content: Record<string, unknown> = { _format_version: '3.0', _transform: false };
  for (const definition of entities.definitions) {
    const list = rows[definition.name] ?? [];
    if (!definition.inConfig || list.length === 0) continue;
    content[definition.name] = list.map((row) => {
      const output: Record<string, unknown> = {};
      for (const { name, value } of shownFields(definition, row, now)) {
        output[name] = Object.hasOwn(definition.foreign, name) ? foreignId(row, name) : value;
      }
      return output;
    });
  }
  return content;
}
