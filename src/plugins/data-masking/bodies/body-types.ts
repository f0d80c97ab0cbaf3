import { mediaType } from '../../../plugin-kit/http/index.ts';
import { BoundedCache } from '../../../plugin-kit/runtime/index.ts';
import type { Rule } from '../rules/rules.ts';

/** How a body is parsed; `pass`: passed unread; `none`: refused, as it cannot be parsed. */
export type BodyFormat = 'json' | 'lines' | 'xml' | 'form' | 'multipart' | 'text' | 'pass' | 'none';

/** A format, and the parameters that are needed to parse it. */
export interface BodyType {
  readonly format: BodyFormat;
  /** Lower case; null if absent. */
  readonly charset: string | null;
}

const lineTypes: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
  'application/jsonlines',
]);

/** Parsed as text, although their names do not begin with `text/`. */
const textTypes: ReadonlySet<string> = new Set([
  'application/javascript',
  'application/x-javascript',
  'application/graphql',
  'application/yaml',
  'application/x-yaml',
  'application/toml',
  'application/sql',
]);

/** Never ends, so it cannot be buffered. */
export const eventStream = 'text/event-stream';

/** Formats in which the rules can mask values. */
export type MaskableFormats = ReadonlySet<BodyFormat>;

export function maskableFormats(rules: readonly Rule[]): MaskableFormats {
  const formats = new Set<BodyFormat>();
  const filled = (list: readonly string[] | null) => list !== null && list.length > 0;
  for (const { config, inBodies } of rules) {
    if (inBodies)
      for (const format of ['json', 'lines', 'xml', 'form', 'multipart', 'text'] as const) formats.add(format);
    if (filled(config.json_paths)) formats.add('json').add('lines');
    if (filled(config.xml_paths)) formats.add('xml');
    if (filled(config.form_fields)) formats.add('form').add('multipart');
  }
  return formats;
}

/** Compiles a function from `Content-Type` to the format of a body. */
export function bodyTypes(
  maskable: MaskableFormats,
  passing: readonly string[],
): (contentType: string | null) => BodyType {
  const known = new BoundedCache<string, BodyType>(256);
  return (contentType) => {
    if (contentType === null) return none;
    let type = known.get(contentType);
    if (type === undefined) {
      type = typeOf(contentType, maskable, passing);
      if (contentType.length <= 256) known.set(contentType, type);
    }
    return type;
  };
}

const none: BodyType = Object.freeze({ format: 'none', charset: null });
const unicode: ReadonlySet<string | null> = new Set([null, 'utf-8', 'utf8', 'us-ascii', 'ascii']);

function typeOf(contentType: string, maskable: MaskableFormats, passing: readonly string[]): BodyType {
  const media = mediaType(contentType);
  if (media === null) return none;
  const { type, charset } = media;
  const format = formatOf(media);
  if (format !== null && maskable.has(format)) {
    // JSON and forms are UTF-8 (RFC 8259 8.1, URL Standard 5.1).
    const readable = format === 'xml' || format === 'text' || format === 'multipart' || unicode.has(charset);
    return readable ? { format, charset } : none;
  }
  return passes(type, passing) ? { format: 'pass', charset } : none;
}

function formatOf({ type, isJson, isXml, isForm }: NonNullable<ReturnType<typeof mediaType>>): BodyFormat | null {
  if (isJson || type === 'text/json') return 'json';
  if (lineTypes.has(type)) return 'lines';
  if (isXml) return 'xml';
  if (isForm) return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  if (type === eventStream) return null;
  return type.startsWith('text/') || textTypes.has(type) ? 'text' : null;
}

export function passes(type: string, passing: readonly string[]): boolean {
  const range = `${type.slice(0, type.indexOf('/'))}/*`;
  return passing.some((pattern) => pattern === '*/*' || pattern === type || pattern === range);
}
