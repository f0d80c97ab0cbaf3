import { type FieldSchema, fieldsOf } from '../forms/schema.ts';
import { type Block, inlineParts, markdownBlocks } from './markdown-blocks.ts';

/** Sections that mention fields of other sections. */
const others =
  /^(?:Configuration|Errors|Details|How it|When |Metrics|Logs|Responses|More examples|Admin API|Coming from|Look at)/;

/** The schema of a plugin's configuration, each field with the section of the README that is about it. */
export function withGroups(config: FieldSchema, readme: string): FieldSchema {
  const names = fieldsOf(config).map(({ name }) => name);
  const sections = withPrefixes(names, sectionsOf(readme, new Set(names)));
  const fields = (config.fields ?? []).map((entry) =>
    Object.fromEntries(
      Object.entries(entry).map(([name, schema]) => {
        const group = schema.deprecation === undefined ? sections.get(name) : 'Deprecated';
        return [name, group === undefined ? schema : { ...schema, group }];
      }),
    ),
  );
  return { ...config, fields };
}

/** The section with the name of the field, or else the first that names it. */
function sectionsOf(readme: string, names: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const titled = new Map<string, string>();
  let section: string | null = null;
  for (const block of markdownBlocks(readme)) {
    if (block.kind === 'heading') section = block.level === 2 && !others.test(block.text) ? block.text : null;
    if (section === null) continue;
    if (block.kind === 'heading' && names.has(section.toLowerCase())) titled.set(section.toLowerCase(), section);
    for (const text of textsOf(block)) {
      for (const { kind, text: name } of inlineParts(text)) {
        if (kind === 'code' && names.has(name) && !found.has(name)) found.set(name, section);
      }
    }
  }
  return new Map([...found, ...titled]);
}

/** `session_cookie_path` belongs to the section of all others that begin with `session_`. */
function withPrefixes(names: readonly string[], sections: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const result = new Map(sections);
  for (const name of names) {
    if (sections.has(name) || !name.includes('_')) continue;
    const prefix = name.slice(0, name.indexOf('_') + 1);
    const related = [...sections].filter(([other]) => other.startsWith(prefix)).map(([, section]) => section);
    const [first] = related;
    if (first !== undefined && related.length > 1 && new Set(related).size === 1) result.set(name, first);
  }
  return result;
}

function textsOf(block: Block): readonly string[] {
  switch (block.kind) {
    case 'paragraph':
      return [block.text];
    case 'list':
      return block.items;
    case 'table':
      return block.rows.flat();
    default:
      return [];
  }
}
