import type { Row } from '../api/queries.ts';
import { exampleUrl } from './route-example.ts';

export interface DraftHeader {
  /** Distinguishes lines of the form. */
  readonly key: number;
  readonly name: string;
  readonly value: string;
  /** The record hides the value. */
  readonly masked: boolean;
}

/** The request in the form. */
export interface Draft {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly DraftHeader[];
  readonly body: string;
  /** The body is the base64 of its bytes. */
  readonly isBase64: boolean;
  readonly dry: boolean;
  /** What is worth knowing about how it was filled in. */
  readonly notes: readonly string[];
}

export const emptyDraft: Draft = {
  method: 'GET',
  url: '/',
  headers: [],
  body: '',
  isBase64: false,
  dry: false,
  notes: [],
};

let keys = 0;

export function newHeader(name = '', value = '', masked = false): DraftHeader {
  keys += 1;
  return { key: keys, name, value, masked };
}

/** Sets headers; one of the same name is replaced. */
export function withHeaders(draft: Draft, headers: Readonly<Record<string, string>>): Draft {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const kept = draft.headers.filter(({ name }) => !names.has(name.toLowerCase()));
  return { ...draft, headers: [...kept, ...Object.entries(headers).map(([name, value]) => newHeader(name, value))] };
}

/** The body of `POST /explain`. */
export function explainRequest({
  method,
  url,
  headers,
  body,
  isBase64,
  dry,
}: Draft): Readonly<Record<string, unknown>> {
  const values = new Map<string, string[]>();
  for (const { name, value } of headers) {
    if (name.trim() === '') continue;
    const known = [...values.keys()].find((one) => one.toLowerCase() === name.trim().toLowerCase()) ?? name.trim();
    values.set(known, [...(values.get(known) ?? []), value]);
  }
  return {
    method,
    url: url.trim(),
    headers: Object.fromEntries(values),
    ...(body === '' ? {} : { [isBase64 ? 'body_base64' : 'body']: body }),
    ...(dry ? { dry } : {}),
  };
}

/** Why the body is no JSON; '': it is. Null: it need not be. */
export function jsonProblem({ headers, body, isBase64 }: Draft): string | null {
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
  if (isBase64 || body.trim() === '' || !(type === '' ? /^\s*[[{]/.test(body) : /[/+]json\b/i.test(type))) return null;
  try {
    JSON.parse(body);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A request that the route matches. */
export function draftOfRoute(route: Row, before: Draft): Draft {
  const { url, exact } = exampleUrl(route);
  const [method = 'GET'] = textsOf(route['methods']);
  const conditions = Object.entries(Object(route['headers']) as Readonly<Record<string, unknown>>).flatMap(
    ([name, values]): readonly (readonly [string, string])[] => {
      const [value = ''] = textsOf(values);
      return [[name, value.startsWith('~*') ? '' : value]];
    },
  );
  const notes = [
    ...(exact ? [] : ['The path of this route is a regular expression: complete the URL.']),
    ...conditions
      .filter(([, value]) => value === '')
      .map(([name]) => `The route needs the header ${name} to match an expression.`),
  ];
  return withHeaders({ ...before, method, url, notes }, Object.fromEntries(conditions));
}

/** Set by the gateway for each request, or part of the URL. */
const left: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'expect', 'http2-settings', 'keep-alive', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade'],
]);

type Json = Readonly<Record<string, unknown>>;

/** Values that logs and records hide. */
const mask = 'REDACTED';

/** A recorded request, from `GET /traffic/{id}`. What the record hides must be filled in. */
export function draftOfRecord(record: Json): Draft {
  const shown = Object(Object(record['explanation'])['request']) as Json;
  const text = (name: string): string | null => {
    const value = shown[name] ?? record[name];
    return typeof value === 'string' ? value : null;
  };
  const query = text('query');
  const path = `${text('path_as_sent') ?? text('path') ?? '/'}${query === null ? '' : `?${query}`}`;
  const host = text('host') ?? '';
  const notes: string[] = [];
  const headers = Object.entries(Object(shown['headers']) as Json).flatMap(([name, values]) =>
    left.has(name.toLowerCase())
      ? []
      : (Array.isArray(values) ? values : [values]).map((value: unknown) => {
          const masked = String(value).includes(mask);
          return newHeader(name, masked ? '' : String(value), masked);
        }),
  );
  const hidden = headers.filter(({ masked }) => masked).map(({ name }) => name);
  if (hidden.length > 0) notes.push(`The record hides ${hidden.join(', ')}: fill in.`);
  if (path.includes(mask)) notes.push('The record hides arguments of the URL: fill in.');
  const body = bodyOf(shown['body'], notes);
  return {
    ...emptyDraft,
    ...body,
    method: text('method') ?? 'GET',
    url: `${host === '' ? '' : `${text('scheme') ?? 'http'}://${host}`}${path.replaceAll(`=${mask}`, '=')}`,
    headers,
    notes,
  };
}

function bodyOf(value: unknown, notes: string[]): Pick<Draft, 'body' | 'isBase64'> {
  const none = { body: '', isBase64: false };
  if (typeof value === 'string' || value === null || value === undefined) {
    if (typeof value === 'string' && value !== 'none') notes.push(`The body was not recorded (${value}).`);
    return none;
  }
  const { text, base64, truncated, reason } = value as Json;
  if (typeof reason === 'string') notes.push(`The body is left out of the record: ${reason}.`);
  if (truncated === true) notes.push('The record has only the beginning of the body.');
  if (typeof text === 'string') {
    if (text.includes(mask)) notes.push('The record hides parts of the body: fill in.');
    return { body: text, isBase64: false };
  }
  return typeof base64 === 'string' ? { body: base64, isBase64: true } : none;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
