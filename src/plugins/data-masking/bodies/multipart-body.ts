import { type MultipartPart, mediaType, multipartParts } from '../../../plugin-kit/http/index.ts';
import { UnreadableBody } from '../refusals.ts';
import type { FieldMask, NameMask } from './form-body.ts';
import { bufferOf, codedText } from './text-coding.ts';

export interface MultipartMasks {
  readonly field: FieldMask;
  readonly name: NameMask;
  /** Masks a file by its type; throws if it cannot be parsed. */
  readonly file: (contentType: string, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;
}

/** Masks the fields of a `multipart/form-data` body, the files in it by their types. Throws when it is malformed. */
export async function maskedMultipart(
  body: Uint8Array,
  contentType: string,
  masks: MultipartMasks,
): Promise<Uint8Array> {
  const bytes = bufferOf(body);
  const boundary = mediaType(contentType)?.parameter('boundary') ?? '';
  const parts = boundary === '' ? null : multipartParts(bytes, boundary);
  if (parts === null) throw new UnreadableBody('the body is not valid multipart/form-data');
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    // After `--`, the boundary and the end of its line.
    const head = bytes.toString('latin1', part.start + boundary.length + 4, part.contentStart - 4);
    const content = bytes.subarray(part.contentStart, part.contentEnd);
    const masked = await maskedPart(part, head, content, masks);
    const maskedHead = withMaskedNames(head, masks);
    pieces.push(Buffer.from(`--${boundary}\r\n${maskedHead}\r\n\r\n`, 'latin1'), masked, lineEnd);
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`, 'latin1'));
  const result = Buffer.concat(pieces);
  // A mask that contains the boundary would change the parts.
  if (multipartParts(result, boundary)?.length !== parts.length) throw new UnreadableBody('the body cannot be masked');
  return result;
}

const lineEnd = Buffer.from('\r\n');
const typeLine = /^content-type:(.*)$/im;
const codingLine = /^content-transfer-encoding:(.*)$/im;

async function maskedPart(
  { name, file }: MultipartPart,
  head: string,
  content: Buffer,
  masks: MultipartMasks,
): Promise<Uint8Array> {
  const type = typeLine.exec(head)?.[1]?.trim() ?? null;
  const coding = codingLine.exec(head)?.[1]?.trim().toLowerCase() ?? '7bit';
  if (!plainCodings.has(coding) || /filename\*/i.test(head)) {
    throw new UnreadableBody('a part of the body is in a form that cannot be read');
  }
  const media = type === null ? null : mediaType(type);
  if (file) return masks.file(type ?? 'text/plain', content);
  // A field may contain a document: it is masked as a document and as a field.
  const isDocument = type !== null && media?.type !== 'text/plain';
  const body = isDocument ? await masks.file(type, content) : content;
  const { text, encode } = codedText(body, isDocument ? null : (media?.charset ?? null));
  const masked = masks.field(name, text);
  return masked === text ? body : encode(masked);
}

const plainCodings: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

const parameters = /((?:file)?name)="([^"\\]*)"/g;

/** File names are masked as values, field names as names. */
function withMaskedNames(head: string, { field, name }: MultipartMasks): string {
  return head.replace(parameters, (whole, parameter: string, value: string) => {
    const text = Buffer.from(value, 'latin1').toString('utf8');
    const masked = parameter === 'name' ? name(text) : field('', text);
    return masked === text ? whole : `${parameter}="${Buffer.from(masked.replace(/["\r\n]/g, '')).toString('latin1')}"`;
  });
}
