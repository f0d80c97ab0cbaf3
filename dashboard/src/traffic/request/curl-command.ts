import { quoted } from '../../components/shell-word.ts';
import type { HeaderValues, RequestView } from '../records.ts';
import { type RecordedBody, recordedBody } from './recorded-body.ts';

export interface CurlCommand {
  readonly command: string;
  /** Words in the command that stand for masked values. */
  readonly placeholders: readonly string[];
  /** What the command does not contain, or contains otherwise, in sentences. */
  readonly missing: readonly string[];
}

/** Where the gateway is reached. */
export interface ProxyAddress {
  readonly host: string;
  readonly port: number;
}

/** What the recorder writes instead of a masked value. */
const masked = 'REDACTED';
/** Headers that curl writes itself, or that belong to the connection. */
const written: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'proxy-connection'],
  ...['te', 'trailer', 'upgrade', 'http2-settings', 'expect'],
]);
/** Headers that curl adds where a command names none. */
const added = ['User-Agent', 'Accept'];
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Must not reach a terminal: it obeys controls, and shows text with marks of direction in another order. */
const unsafe = /[[\p{C}\p{Zl}\p{Zp}]--[\t\n]]/v;
const unsafeInLine = /[\p{C}\p{Zl}\p{Zp}]/v;

/** A recorded request as a command for a POSIX shell. */
export function curlCommand(request: RequestView, proxy: ProxyAddress): CurlCommand {
  const placeholders: string[] = [];
  const missing: string[] = [];
  const words = ['curl', '-i'];
  const fill = (text: string, name: string): string => {
    if (!text.includes(masked)) return text;
    const placeholder = `FILL_IN_${name.replace(/[^\w-]/g, '_')}`;
    if (!placeholders.includes(placeholder)) placeholders.push(placeholder);
    return text.replaceAll(masked, placeholder);
  };
  words.push(...versionWords(request), ...methodWords(request, missing));
  words.push('--path-as-is', '--globoff', ...addressWords(request, proxy, fill));
  words.push(...headerWords(request.headers, fill, missing));
  words.push(...bodyWords(request, placeholders, missing));
  return { command: words.join(' '), placeholders, missing };
}

function versionWords({ http_version: version, scheme }: RequestView): readonly string[] {
  if (version.startsWith('2')) return [scheme === 'https' ? '--http2' : '--http2-prior-knowledge'];
  return [version === '1.0' ? '--http1.0' : '--http1.1'];
}

function methodWords({ method }: RequestView, missing: string[]): readonly string[] {
  if (method === 'HEAD') return ['--head'];
  if (token.test(method)) return method === 'GET' ? [] : ['-X', quoted(method)];
  missing.push('The method has characters that no method may have: the command sends GET.');
  return [];
}

/** The path exactly as the client wrote it, at the gateway. */
function addressWords(
  { scheme, host, path_as_sent: path, query, connection }: RequestView,
  proxy: ProxyAddress,
  fill: (text: string, name: string) => string,
): readonly string[] {
  const target = `${encoded(path)}${query === null ? '' : `?${encoded(filledQuery(query, fill))}`}`;
  const at = `${proxy.host.includes(':') && !proxy.host.startsWith('[') ? `[${proxy.host}]` : proxy.host}:${proxy.port}`;
  if (scheme !== 'https') return [quoted(`http://${at}${target}`), '-H', quoted(`Host: ${encoded(host)}`)];
  const name = connection.tls?.server_name ?? null;
  const server = name !== null && /^[\w.-]+$/.test(name) ? name : proxy.host;
  const url = quoted(`https://${server}:${proxy.port}${target}`);
  return ['--connect-to', quoted(`::${at}`), url, '-H', quoted(`Host: ${encoded(host)}`)];
}

function filledQuery(query: string, fill: (text: string, name: string) => string): string {
  return query
    .split('&')
    .map((argument) => fill(argument, argument.slice(0, Math.max(0, argument.indexOf('=')))))
    .join('&');
}

/** Bytes that a URL cannot contain, as the gateway reads them too. */
function encoded(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\x21-\x7e]/gu, (character) =>
      (character.codePointAt(0) ?? 0) < 0x100
        ? `%${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0').toUpperCase()}`
        : encodeURIComponent(character),
    );
}

function headerWords(
  headers: HeaderValues,
  fill: (text: string, name: string) => string,
  missing: string[],
): readonly string[] {
  const words: string[] = [];
  const names = new Set<string>();
  for (const [name, values] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    names.add(lower);
    if (written.has(lower)) continue;
    for (const value of typeof values === 'string' ? [values] : values) {
      if (!token.test(name) || unsafeInLine.test(value.replaceAll('\t', ' '))) {
        const shown = token.test(name) ? name : 'one with an invalid name';
        missing.push(`The header ${shown} has characters that a command cannot carry, so it is left out.`);
        continue;
      }
      const line = fill(value.replaceAll('\t', ' '), name);
      words.push('-H', quoted(line === '' ? `${name};` : `${name}: ${line}`));
    }
  }
  for (const name of [...added, 'Content-Type']) if (!names.has(name.toLowerCase())) words.push('-H', `'${name}:'`);
  return words;
}

function bodyWords({ body, headers }: RequestView, placeholders: string[], missing: string[]): readonly string[] {
  const recorded = recordedBody(body, headers);
  if (recorded === null && (body === undefined || body === null || body === 'none')) return [];
  const text = recorded?.text ?? null;
  // An @ at the beginning is no file for this option.
  if (bodyProblem(recorded) === null && text !== null) return ['--data-raw', quoted(text)];
  missing.push(`The body is not in the command: ${bodyProblem(recorded)}. Name a file that contains it.`);
  placeholders.push('FILL_IN_body_file');
  return ['--data-binary', "'@FILL_IN_body_file'"];
}

/** Null: the text is the whole body. */
function bodyProblem(recorded: RecordedBody | null): string | null {
  if (recorded === null) return 'it was not recorded';
  const { text, base64, truncated, encoded: wasEncoded } = recorded;
  if (text === null) return base64 === null ? 'it was not recorded' : 'it is no text';
  if (truncated) return 'only its beginning was recorded';
  if (wasEncoded) return 'it was recorded without its content coding';
  if (text.includes(masked)) return 'parts of it are masked';
  return unsafe.test(text) ? 'it has characters that a terminal would obey' : null;
}
