import { call } from '../api/client.ts';

/** What an import does with one entity. */
export interface ImportChange {
  readonly operation: 'create' | 'update' | 'unchanged';
  readonly entity: 'services' | 'routes' | 'plugins' | 'apis';
  readonly id: string;
  readonly name: string;
  readonly route: string | null;
  readonly place: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly changed: readonly string[];
}

export interface ImportResult {
  readonly api: { readonly id: string; readonly name: string };
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly changes: readonly ImportChange[];
  readonly warnings: readonly { readonly place: string; readonly message: string }[];
}

export interface ImportInput {
  readonly document: string;
  readonly name: string;
  readonly server: string;
  readonly prefix: string;
  readonly tags: string;
  readonly validate: boolean;
}

export const emptyInput: ImportInput = { document: '', name: '', server: '', prefix: '', tags: '', validate: false };

/** Maximum characters of a document. */
export const maxDocument = 1_048_576;

export function importDocument(input: ImportInput, dryRun: boolean): Promise<ImportResult> {
  const { document, name, server, prefix, tags, validate } = input;
  const body = {
    document,
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(server.trim() !== '' && { server: server.trim() }),
    ...(prefix.trim() !== '' && { route_prefix: prefix.trim() }),
    tags: tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    validate,
  };
  return call<ImportResult>('POST', `/apis/import${dryRun ? '?dry_run=1' : ''}`, { body });
}

/** Where the steps of a JSON pointer stand in the text, one after the other; null: they do not. For JSON and YAML alike. */
export function placeIn(text: string, pointer: string): { readonly start: number; readonly end: number } | null {
  let at = 0;
  let found: { readonly start: number; readonly end: number } | null = null;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (/^\d+$/.test(name)) continue;
    const start = text.indexOf(name, at);
    if (start < 0) return found;
    found = { start, end: start + name.length };
    at = found.end;
  }
  return found;
}
