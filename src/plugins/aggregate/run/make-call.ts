import type { NamedTemplate, Part } from '../part.ts';
import { type Item, type Reference, resolve, type Sources } from '../values/reference.ts';
import { isSafePath, textOf } from '../values/template.ts';
import type { CallOptions, MadeCall } from './outcome.ts';

/** Maximum characters of a query, and of a header. */
const maxQueryLength = 8_192;
const maxHeaderLength = 8_192;

export function makeCall(part: Part, sources: Sources, item: Item | null): MadeCall {
  if (part.constant !== null) return part.constant;
  const path = part.path.fill(sources, item);
  if (path === undefined) return missing(part.path.references, sources, item);
  if (!isSafePath(path)) return unsafe(part.path.references, 'a value does not fit into its path');
  const query = queryOf(part.query, sources, item);
  if (query.length > maxQueryLength) {
    return unsafe(
      part.query.flatMap(({ value }) => value.references),
      'the values for its query are too long',
    );
  }
  const body = part.body === null ? null : part.body.fill(sources, item);
  if (body === undefined) return missing(part.body?.references ?? [], sources, item);
  const { to, pass, config } = part;
  const headers = headersOf(part.headers, sources, item);
  if (headers.some(([, value]) => value.length > maxHeaderLength)) {
    return unsafe(
      part.headers.flatMap(({ value }) => value.references),
      'a value for its headers is too long',
    );
  }
  const call: CallOptions = {
    ...to,
    ...(pass.size === 0 ? null : { pass }),
    method: config.method,
    path,
    query,
    headers,
  };
  return { call: body === null ? call : { ...call, body: Buffer.from(body) } };
}

/** The call of a part without references, which is always the same. Null: the part has references. */
export function constantCall(part: Part): MadeCall | null {
  const templates = [
    part.path,
    ...(part.body === null ? [] : [part.body]),
    ...[...part.query, ...part.headers].map(({ value }) => value),
  ];
  return templates.some(({ references }) => references.length > 0) ? null : makeCall(part, noSources, null);
}

const noSources = {} as Sources;

function queryOf(templates: readonly NamedTemplate[], sources: Sources, item: Item | null): string {
  let query = '';
  for (const { name, value } of templates) {
    const text = value.fill(sources, item);
    if (text !== undefined) query += `${query === '' ? '' : '&'}${name}=${text}`;
  }
  return query;
}

function headersOf(templates: readonly NamedTemplate[], sources: Sources, item: Item | null): [string, string][] {
  const headers: [string, string][] = [];
  for (const { name, value } of templates) {
    const text = value.fill(sources, item);
    if (text !== undefined) headers.push([name, text]);
  }
  return headers;
}

/** Names the first reference without a value. */
function missing(references: readonly Reference[], sources: Sources, item: Item | null): MadeCall {
  const empty = references.find((reference) => {
    const text = textOf(resolve(reference, sources, item));
    return text === undefined || text === '';
  });
  const message = `there is no value for {${empty?.text ?? ''}}`;
  return { failure: { reason: 'missing-value', status: isFromClient(empty) ? 400 : 502, message } };
}

function unsafe(references: readonly Reference[], message: string): MadeCall {
  return { failure: { reason: 'unsafe-value', status: references.some(isFromClient) ? 400 : 502, message } };
}

function isFromClient(reference: Reference | undefined): boolean {
  return reference !== undefined && !['part', 'item', 'index'].includes(reference.from);
}
