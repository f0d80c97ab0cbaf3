/** Character classes of XML 1.0 (fifth edition) 2.2 and 2.3, without the colon, which namespaces reserve. */
const nameStart =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const nameRest = `${nameStart}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}`;
const ncName = `[${nameStart}][${nameRest}]*`;

const wholeQName = new RegExp(`^${ncName}(?::${ncName})?$`, 'u');
const wholeNcName = new RegExp(`^${ncName}$`, 'u');
const startCharacter = new RegExp(`^[${nameStart}]$`, 'u');
const nameCharacter = new RegExp(`^[${nameRest}]$`, 'u');
const notXml = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const plain = /^[\t\n\r\x20-\x7e]*$/;

/** A name with a prefix or without (Namespaces in XML 1.0, QName). */
export function isQName(name: string): boolean {
  return wholeQName.test(name);
}

/** A name without a colon. */
export function isNcName(name: string): boolean {
  return wholeNcName.test(name);
}

/** XML 1.0, Char: no control characters but tab and line ends, no lone surrogates, not U+FFFE and U+FFFF. */
export function hasOnlyXmlCharacters(text: string): boolean {
  return plain.test(text) || !notXml.test(text);
}

const escaped = /_x([0-9A-F]{4,6})_/g;

/**
 * A name for any text except '': characters that names must not contain become `_x0020_` (the number of the character), and an
 * underscore that begins such an escape becomes `_x005F_`. Valid names stay unchanged. Null: it has characters that XML does not allow.
 */
export function escapeName(text: string): string | null {
  if (isQName(text) && unescapeName(text) === text) return text;
  return hasOnlyXmlCharacters(text) && text !== '' ? escapeAll(text) : null;
}

/** The inverse; sequences that `escapeName` does not produce stay unchanged, so that the mapping is one to one. */
export function unescapeName(name: string): string {
  if (!name.includes('_x')) return name;
  const text = name.replace(escaped, (whole, digits: string) => {
    const code = Number.parseInt(digits, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
  return text !== name && hasOnlyXmlCharacters(text) && escapeAll(text) === name ? text : name;
}

function escapeAll(text: string): string {
  const keepsColon = /^[^:]+:[^:]+$/.test(text);
  let name = '';
  let atStart = true;
  let at = 0;
  for (const char of text) {
    const separator = char === ':' && keepsColon;
    const valid = separator || (atStart ? startCharacter : nameCharacter).test(char);
    const looksEscaped = char === '_' && /^_x[0-9A-F]{4,6}_/.test(text.slice(at, at + 9));
    name += valid && !looksEscaped ? char : escapeOf(char);
    atStart = separator;
    at += char.length;
  }
  return name;
}

function escapeOf(char: string): string {
  return `_x${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}_`;
}
