import { isSecretArgument, redacted } from '../../shared/logs/masked-arguments.ts';
import { oneLine } from '../../shared/logs/record-line.ts';
import { shownArguments } from '../answer/log-record.ts';

/** What is encoded, or must be escaped in JSON. */
const unusual = /[%+"\\\x00-\x1f\x80-\uffff]/;
/** Each name is compared with those before it. */
const maxArguments = 16;

/** The JSON of `shownArguments`. */
export function queryText(query: string, own: ReadonlySet<string>): string {
  if (query === '') return '{}';
  const text = unusual.test(query) ? null : membersOf(query, own);
  return text === null ? oneLine(JSON.stringify(shownArguments(query, own))) : `{${text}}`;
}

/** Null: a name comes twice, or is a number, which moves to the front of an object. */
function membersOf(query: string, own: ReadonlySet<string>): string | null {
  const names: string[] = [];
  let text = '';
  for (let start = 0; start < query.length; ) {
    const separator = query.indexOf('&', start);
    const end = separator < 0 ? query.length : separator;
    if (end > start) {
      const equals = query.indexOf('=', start);
      const hasValue = equals >= 0 && equals < end;
      const name = query.slice(start, hasValue ? equals : end);
      if (isDigit(name.charCodeAt(0)) || names.length === maxArguments || names.includes(name)) return null;
      names.push(name);
      const value = hasValue ? `"${query.slice(equals + 1, end)}"` : 'true';
      text += `${text === '' ? '' : ','}"${name}":${isSecretArgument(name, own) ? `"${redacted}"` : value}`;
    }
    start = end + 1;
  }
  return text;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
