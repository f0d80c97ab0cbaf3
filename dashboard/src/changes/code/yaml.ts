import { isObject } from '../../forms/value.ts';

/** A document in YAML. Every text that could be read as something else is in double quotes. */
export function yamlText(value: Readonly<Record<string, unknown>>): string {
  return `${blockLines(value).join('\n')}\n`;
}

function blockLines(value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first = '', ...rest] = isBlock(item) ? blockLines(item) : [scalarText(item)];
      return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  }
  return Object.entries(Object(value)).flatMap(([name, item]) => {
    const key = plainText.test(name) && !reserved.test(name) ? name : quotedText(name);
    if (!isBlock(item)) return [`${key}: ${scalarText(item)}`];
    return [`${key}:`, ...blockLines(item).map((line) => `  ${line}`)];
  });
}

function isBlock(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
}

function scalarText(value: unknown): string {
  if (Array.isArray(value)) return '[]';
  if (isObject(value)) return '{}';
  if (typeof value !== 'string') return JSON.stringify(value ?? null);
  return plainText.test(value) && !reserved.test(value) ? value : quotedText(value);
}

/** Begins with a letter or a low line, and has nothing that means something in YAML. */
const plainText = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
const reserved = /^(?:null|true|false|yes|no|on|off|y|n|nan|inf)$/i;

/** The escapes of JSON are those of YAML; what YAML could take for the end of a line, or may not contain, is escaped as well. */
function quotedText(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
