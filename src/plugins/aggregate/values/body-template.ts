import { isJsonNumber, type JsonValue, jsonText } from '../../../plugin-kit/json/index.ts';
import { type Item, parseReference, type Reference, resolve, type Sources, TemplateError } from './reference.ts';
import { compileTemplate, percentEncoded, type Template, textOf, xmlEscaped } from './template.ts';

export type BodyType = 'json' | 'form' | 'xml';

export const bodyMediaTypes: Readonly<Record<BodyType, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'application/xml; charset=utf-8',
};

/** Throws a `TemplateError`. */
export function compileBody(text: string, type: BodyType): Template {
  if (type === 'json') return compileJson(text);
  return compileTemplate(text, type === 'form' ? formEncoded : xmlEscaped);
}

function formEncoded(value: string): string {
  return percentEncoded(value).replaceAll('%20', '+');
}

/** A pair of braces that belongs to the JSON itself contains a quotation mark or nothing. */
const placeholder = /\{([A-Za-z_0-9][^{}\s",:]*)\}/y;

/**
 * JSON with references: within quotation marks they become text, elsewhere a value, or null if there is no value. Whatever
 * the values are, the result is JSON with the same structure.
 */
function compileJson(text: string): Template {
  const literals: string[] = [];
  const references: Reference[] = [];
  const quoted: boolean[] = [];
  let inside = false;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') inside = !inside;
    else if (char === '\\' && inside) at++;
    else if (char === '{') {
      placeholder.lastIndex = at;
      const found = placeholder.exec(text);
      if (found === null) continue;
      literals.push(text.slice(from, at));
      references.push(parseReference(found[1] as string));
      quoted.push(inside);
      from = placeholder.lastIndex;
      at = from - 1;
    }
  }
  literals.push(text.slice(from));
  refuseOtherThanJson(literals, quoted);
  const fill = (sources: Sources, item: Item | null): string => {
    let filled = literals[0]!;
    for (let at = 0; at < references.length; at++) {
      const value = resolve(references[at]!, sources, item);
      filled += (quoted[at] ? innerText(value) : jsonText(value ?? null)) + literals[at + 1]!;
    }
    return filled;
  };
  return { references, fill };
}

function refuseOtherThanJson(literals: readonly string[], quoted: readonly boolean[]): void {
  const filled = literals.reduce((text, literal, at) => text + (quoted[at - 1] ? '' : 'null') + literal);
  try {
    JSON.parse(filled);
  } catch {
    throw new TemplateError('it is not JSON, with a value instead of each reference');
  }
}

/** The text without its quotation marks, for a place inside a JSON string. */
function innerText(value: JsonValue | undefined): string {
  const text = textOf(value) ?? (value == null ? '' : jsonText(value));
  return isJsonNumber(value) ? text : JSON.stringify(text).slice(1, -1);
}
