/** One part of a multipart body. Offsets are in bytes. */
export interface MultipartPart {
  /** The `name` of its Content-Disposition. */
  readonly name: string;
  /** It carries a file: it has a `filename`. */
  readonly file: boolean;
  /** Where its delimiter begins; the part goes up to the delimiter of the next one. */
  readonly start: number;
  readonly contentStart: number;
  readonly contentEnd: number;
}

const maxParts = 1000;
const maxPartHeadSize = 8192;

/**
 * The parts of a `multipart/form-data` body (RFC 7578, RFC 2046 5.1), parsed strictly: each line ends with CRLF, there
 * is no preamble, every part has one Content-Disposition `form-data` with one name, and the closing delimiter ends the
 * body. Null otherwise, or with more than 1000 parts.
 */
export function multipartParts(body: Buffer, boundary: string): readonly MultipartPart[] | null {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const first = delimiter.subarray(2);
  if (!body.subarray(0, first.length).equals(first)) return null;
  const parts: MultipartPart[] = [];
  let start = 0;
  let after = first.length;
  for (;;) {
    if (body[after] === 45 && body[after + 1] === 45) return endsAt(body, after + 2) ? parts : null;
    if (body[after] !== 13 || body[after + 1] !== 10 || parts.length === maxParts) return null;
    const headStart = after + 2;
    const headEnd = body.indexOf('\r\n\r\n', headStart - 2, 'latin1');
    if (headEnd < 0 || headEnd - headStart > maxPartHeadSize) return null;
    const named = disposition(body.toString('latin1', headStart, Math.max(headStart, headEnd)));
    const contentStart = headEnd + 4;
    const contentEnd = body.indexOf(delimiter, contentStart - 2);
    if (named === null || contentEnd < contentStart) return null;
    parts.push({ ...named, start, contentStart, contentEnd });
    start = contentEnd + 2;
    after = contentEnd + delimiter.length;
  }
}

/** What is allowed after the closing delimiter: nothing, or the end of its line. */
function endsAt(body: Buffer, at: number): boolean {
  return at === body.length || (at + 2 === body.length && body[at] === 13 && body[at + 1] === 10);
}

const headerLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
const formData =
  /^[ \t]*form-data((?:[ \t]*;[ \t]*[!#$%&'*+.^_`|~0-9a-z-]+=(?:"[^"\\]*"|[!#$%&'*+.^_`|~0-9a-z-]+))*)[ \t]*$/i;
const parameter = /;[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)=(?:"([^"\\]*)"|([!#$%&'*+.^_`|~0-9a-z-]+))/gi;

function disposition(head: string): { readonly name: string; readonly file: boolean } | null {
  let value: string | null = null;
  for (const line of head.split('\r\n')) {
    if (!headerLine.test(line)) return null;
    const colon = line.indexOf(':');
    if (line.slice(0, colon).toLowerCase() !== 'content-disposition') continue;
    if (value !== null) return null;
    value = line.slice(colon + 1);
  }
  const list = value === null ? null : formData.exec(value);
  return list === null ? null : nameOf(list[1] ?? '');
}

function nameOf(parameters: string): { readonly name: string; readonly file: boolean } | null {
  const found = new Map<string, string>();
  for (const [, key = '', quoted, token] of parameters.matchAll(parameter)) {
    const name = key.toLowerCase();
    if (found.has(name)) return null;
    found.set(name, quoted ?? token ?? '');
  }
  const name = found.get('name');
  if (name === undefined) return null;
  return { name: unescapeName(name), file: found.has('filename') || found.has('filename*') };
}

/** Browsers write a quote and the end of a line as these escapes (HTML, multipart/form-data encoding). */
function unescapeName(name: string): string {
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text.includes('%') ? text.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n') : text;
}
