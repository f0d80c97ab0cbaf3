import { mediaType } from '../../plugin-kit/http/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../plugin-kit/json/index.ts';
import { pointerStep } from '../../plugin-kit/json-schema/index.ts';
import { type Located, type OperationSource, resolved } from '../../plugin-kit/openapi/index.ts';
import { backendReply, type Reply, type RequestView, refuse } from '../../plugin-sdk/index.ts';
import { exampleOf } from './example-of.ts';

/** A response from the document, chosen by `Prefer` and `Accept`. */
export function mockReply(document: JsonObject, source: OperationSource, request: RequestView): Reply {
  const wishes = preferences(request.headerValues('prefer'));
  const chosen = chosenResponse(source, wishes.get('code') ?? null);
  if (chosen === null) return refuse(400, 'The operation has no such answer');
  const { status, response } = chosen;
  const { value, pointer } = resolved(document, response);
  const headers = headersOf(document, { value, pointer });
  const content = isJsonObject(value['content']) ? Object.entries(value['content']) : [];
  const media = chosenMedia(content, request.headerValues('accept'));
  if (media === null) return backendReply({ status, headers: [...headers, marked], fresh: true });
  const [type, description] = media;
  const place = { value: description, pointer: `${pointer}/content${pointerStep(type)}` };
  const example = exampleIn(document, place, wishes.get('example') ?? null);
  if (example === null) return refuse(400, 'The answer has no such example');
  const concrete = type.includes('*') ? 'application/json' : type;
  const isText = typeof example.value === 'string' && mediaType(concrete)?.isJson !== true;
  const body = isText ? (example.value as string) : JSON.stringify(example.value);
  return backendReply({ status, headers: [...headers, ['Content-Type', concrete], marked], body, fresh: true });
}

const marked: readonly [string, string] = ['X-Mock-Response', 'true'];

/** `Prefer: code=404, example="not found"` (RFC 7240). */
function preferences(lines: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const match of lines.join(',').matchAll(/(?:^|[,;])\s*([a-z]+)\s*=\s*(?:"([^"]*)"|([^\s,;"]+))/gi)) {
    const name = (match[1] as string).toLowerCase();
    if (!found.has(name)) found.set(name, match[2] ?? match[3] ?? '');
  }
  return found;
}

interface Chosen {
  readonly status: number;
  readonly response: Located;
}

/** The preferred status, else the first successful one, else the first one. */
function chosenResponse({ operation, pointer }: OperationSource, code: string | null): Chosen | null {
  const responses = isJsonObject(operation['responses']) ? operation['responses'] : {};
  const names = Object.keys(responses).filter((name) => /^(?:[2-5](?:\d\d|XX)|default)$/.test(name));
  const found =
    code === null
      ? (names.find((name) => name.startsWith('2')) ?? names.find((name) => name === 'default') ?? names[0])
      : [code, `${code[0]}XX`, 'default'].find((name) => names.includes(name));
  if (found === undefined || (code !== null && !/^[2-5]\d\d$/.test(code))) return null;
  const status = code ?? (found === 'default' ? '200' : found.replace('XX', '00'));
  const response = { value: responses[found] as JsonValue, pointer: `${pointer}/responses${pointerStep(found)}` };
  return { status: Number(status), response };
}

/** The first type that the client accepts, else the first. */
function chosenMedia(content: readonly [string, JsonValue][], accept: readonly string[]): [string, JsonValue] | null {
  const wanted = accept
    .flatMap((line) => line.split(','))
    .map((range) => (range.split(';')[0] ?? '').trim().toLowerCase());
  for (const range of wanted) {
    const found = content.find(([type]) => {
      const name = (type.split(';')[0] ?? '').trim().toLowerCase();
      return range === '*/*' || range === name || (range.endsWith('/*') && name.startsWith(range.slice(0, -1)));
    });
    if (found !== undefined) return found;
  }
  return content[0] ?? null;
}

function exampleIn(document: JsonObject, media: Located, name: string | null): { readonly value: JsonValue } | null {
  const { value, pointer } = resolved(document, media);
  const { example, examples, schema } = value;
  const named = isJsonObject(examples) ? examples : {};
  const wanted = name ?? Object.keys(named)[0];
  if (wanted !== undefined && Object.hasOwn(named, wanted)) {
    const found = resolved(document, { value: named[wanted] as JsonValue, pointer: `${pointer}/examples` });
    return { value: found.value['value'] ?? null };
  }
  if (name !== null) return null;
  if (example !== undefined) return { value: example };
  return { value: schema === undefined ? null : exampleOf(document, { value: schema, pointer }) };
}

/** Headers with a value in the document, except framing headers, which the gateway writes. */
function headersOf(
  document: JsonObject,
  { value, pointer }: Located<JsonObject>,
): readonly (readonly [string, string])[] {
  const headers = isJsonObject(value['headers']) ? value['headers'] : {};
  const found: [string, string][] = [];
  for (const [name, header] of Object.entries(headers)) {
    if (!/^[\w-]+$/.test(name) || /^(?:content-(?:type|length)|transfer-encoding|connection)$/i.test(name)) continue;
    const described = resolved(document, { value: header, pointer });
    const { example, schema } = described.value;
    const one = example ?? (schema === undefined ? undefined : exampleOf(document, { value: schema, pointer }));
    if (
      typeof one === 'number' ||
      typeof one === 'boolean' ||
      (typeof one === 'string' && /^[\x20-\x7e]*$/.test(one))
    ) {
      found.push([name, String(one)]);
    }
  }
  return found;
}
