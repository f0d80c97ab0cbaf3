/** Texts that need no quotes, as far as their characters are concerned. */
const plain = /^[A-Za-z0-9_/.$(~^][\w/.+@$()~^=;*?\\:-]*(?: [\w/.+@$()~^=;*?\\-]+)*$/;
/** What some parser reads as null, a boolean or a number: YAML 1.1 has more of these than 1.2. */
const word = /^(?:~|null|true|false|yes|no|on|off|y|n|\.inf|\.nan)$/i;
const number = /^[-+.]?\d[\d_:.,+\-eExXoObBa-fA-F]*$/;
const dateLike = /^\d{4}-\d/;
/** What YAML does not allow as it is, and what ends a line to some parsers. */
const special = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]/;
const specials = new RegExp(special, 'g');

/** The text as a scalar. `indent`: of the lines of a text with several; empty where it must be one line. */
export function yamlScalar(text: string, indent: string): string {
  if (plain.test(text) && !needsQuotes(text)) return text;
  if (special.test(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''))) return doubleQuoted(text);
  if (text.includes('\n')) return indent !== '' && fitsBlock(text) ? block(text, indent) : doubleQuoted(text);
  return !text.includes('\t') ? `'${text.replaceAll("'", "''")}'` : doubleQuoted(text);
}

function needsQuotes(text: string): boolean {
  return text.endsWith(':') || text.includes(': ') || word.test(text) || number.test(text) || dateLike.test(text);
}

/** JSON, with escapes for what YAML does not allow. */
function doubleQuoted(text: string): string {
  const json = JSON.stringify(text);
  if (!special.test(json)) return json;
  return json.replace(/[\ud800-\udbff][\udc00-\udfff]/g, (pair) => pair).replace(specials, escaped);
}

function escaped(character: string, offset: number, whole: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0xd800 && code <= 0xdfff && isPaired(whole, offset, code)) return character;
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

function isPaired(text: string, offset: number, code: number): boolean {
  const other = text.charCodeAt(code < 0xdc00 ? offset + 1 : offset - 1);
  return code < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff;
}

/** A literal block keeps the text: no line that begins or consists of blanks in a way that would be lost. */
function fitsBlock(text: string): boolean {
  return !/^[ \t\n]|(?:^|\n)[ \t]+(?:\n|$)|\n\n$/.test(text);
}

function block(text: string, indent: string): string {
  const ends = text.endsWith('\n');
  const lines = (ends ? text.slice(0, -1) : text).split('\n');
  return `${ends ? '|' : '|-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`;
}
