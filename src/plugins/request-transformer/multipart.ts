import { type MultipartPart, multipartParts } from '../../plugin-kit/http/index.ts';
import { namedFields, resolved, type TransformValues } from '../../plugin-kit/templates/index.ts';
import { isEmpty, type RuleTexts } from './arguments.ts';

/** Null: the body is malformed, or a value would end its part. */
export type MultipartChange = (body: Buffer, boundary: string, rendered: readonly string[]) => Buffer | null;

/** The bytes of a part, from its delimiter to the next one. */
interface Piece {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Changes the parts of a form by their names, files included; null when there is nothing to change. */
export function multipartChange(texts: RuleTexts, values: TransformValues): MultipartChange | null {
  if (isEmpty(texts)) return null;
  const gone = new Set(texts.remove);
  const rename = namedFields(texts.rename);
  const replace = values.rules(texts.replace, namedFields);
  const add = values.rules(texts.add, namedFields);
  const append = values.rules(texts.append, namedFields);
  return (body, boundary, rendered) => {
    const parts = multipartParts(body, boundary);
    if (parts === null) return null;
    if ([...replace, ...add, ...append].some(({ value }) => resolved(value, rendered).includes(`--${boundary}`))) {
      return null;
    }
    let pieces = readPieces(body, parts).filter(({ name }) => !gone.has(name));
    for (const { name, value } of rename) pieces = renamed(pieces, name, value);
    for (const { name, value } of replace) {
      const first = pieces.findIndex((piece) => piece.name === name);
      if (first < 0) continue;
      pieces[first] = textPiece(name, resolved(value, rendered), boundary);
      pieces = pieces.filter((piece, at) => at <= first || piece.name !== name);
    }
    for (const { name, value } of add) {
      if (!pieces.some((piece) => piece.name === name))
        pieces.push(textPiece(name, resolved(value, rendered), boundary));
    }
    for (const { name, value } of append) pieces.push(textPiece(name, resolved(value, rendered), boundary));
    return Buffer.concat([...pieces.map(({ bytes }) => bytes), Buffer.from(`--${boundary}--\r\n`, 'latin1')]);
  };
}

function readPieces(body: Buffer, parts: readonly MultipartPart[]): Piece[] {
  return parts.map(({ name, start, contentEnd }) => ({ name, bytes: body.subarray(start, contentEnd + 2) }));
}

function textPiece(name: string, value: string, boundary: string): Piece {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n`;
  return { name, bytes: Buffer.from(`${head}${value}\r\n`) };
}

function renamed(pieces: readonly Piece[], old: string, name: string): Piece[] {
  if (old === name || !pieces.some((piece) => piece.name === old)) return [...pieces];
  return pieces
    .filter((piece) => piece.name !== name)
    .map((piece) => (piece.name === old ? { name, bytes: withName(piece.bytes, name) } : piece));
}

const disposition = /^(content-disposition:)(.*)$/im;
const parameter = /;[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)=(?:"[^"\\]*"|[!#$%&'*+.^_`|~0-9a-z-]+)/gi;

/** Renames the part; its other parameters and headers stay. */
function withName(bytes: Buffer, name: string): Buffer {
  const end = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  const encoded = Buffer.from(quoted(name)).toString('latin1');
  const head = bytes.toString('latin1', 0, end).replace(disposition, (_, field: string, value: string) => {
    const changed = value.replace(parameter, (whole, key: string) =>
      key.toLowerCase() === 'name' ? `; name="${encoded}"` : whole,
    );
    return field + changed;
  });
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes.subarray(end)]);
}

/** As browsers write it (HTML, multipart/form-data encoding). */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('\\', '%5C');
}
