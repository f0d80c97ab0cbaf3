import { redacted } from '../masked-arguments.ts';
import type { SecretFields } from './secret-names.ts';

const element = /<(?:[\w.-]{1,64}:)?([\w.-]{1,128})(?:\s[^<>]{0,1024})?>/g;

/** Masks the content of XML elements whose name is one of a credential, down to the end tag, or the end of the text. */
export function maskedElements(text: string, secrets: SecretFields): string {
  if (!text.includes('<')) return text;
  let masked = '';
  let keptFrom = 0;
  element.lastIndex = 0;
  for (let found = element.exec(text); found !== null; found = element.exec(text)) {
    const [tag, name = ''] = found;
    if (tag.endsWith('/>') || !secrets.has(name)) continue;
    const start = found.index + tag.length;
    const end = endTag(text, name, start);
    if (end > start) masked += text.slice(keptFrom, start) + redacted;
    else masked += text.slice(keptFrom, end);
    keptFrom = end;
    element.lastIndex = end;
  }
  return keptFrom === 0 ? text : masked + text.slice(keptFrom);
}

/** Characters of an end tag. */
const maxTag = 256;

/** Where the end tag of the element begins, or the end of the text. */
function endTag(text: string, name: string, from: number): number {
  for (let at = text.indexOf('</', from); at >= 0; at = text.indexOf('</', at + 2)) {
    const [tag = ''] = text.slice(at + 2, at + 2 + maxTag).split('>', 1);
    const shown = tag.trim();
    if (shown === name || shown.endsWith(`:${name}`)) return at;
  }
  return text.length;
}

const disposition = /^content-disposition:([^\r\n]{0,1024})/gim;
const partName = /;\s*name(\*?)=(?:"((?:[^"\\]|\\.){0,256})"|([^\s;"]{0,256}))/gi;

/**
 * Masks the content of parts of a multipart form whose name is one of a credential. `boundary`: null: that of the first line. Without one, or
 * where the text is cut off, a part ends with the text.
 */
export function maskedParts(text: string, boundary: string | null, secrets: SecretFields): string {
  const delimiter = boundary === null ? (/^\s*(--[^\r\n]{1,200})/.exec(text)?.[1] ?? null) : `--${boundary}`;
  let masked = '';
  let keptFrom = 0;
  disposition.lastIndex = 0;
  for (let found = disposition.exec(text); found !== null; found = disposition.exec(text)) {
    const names = [...(found[1] ?? '').matchAll(partName)].map(([, star = '', quoted, plain = '']) => {
      const value = quoted ?? plain;
      return star === '' ? value : value.slice(value.lastIndexOf("'") + 1);
    });
    if (!names.some((name) => secrets.has(name))) continue;
    const start = contentStart(text, found.index);
    const next = delimiter === null ? -1 : text.indexOf(`\n${delimiter}`, Math.max(0, start - 1));
    const end = next < 0 ? text.length : text[next - 1] === '\r' ? next - 1 : next;
    if (end > start) {
      masked += text.slice(keptFrom, start) + redacted;
      keptFrom = end;
    }
    disposition.lastIndex = Math.max(end, found.index + 1);
  }
  return keptFrom === 0 ? text : masked + text.slice(keptFrom);
}

/** Behind the empty line that ends the head of a part. */
function contentStart(text: string, from: number): number {
  const empty = /\r?\n\r?\n/g;
  empty.lastIndex = from;
  const found = empty.exec(text);
  return found === null ? text.length : found.index + found[0].length;
}
