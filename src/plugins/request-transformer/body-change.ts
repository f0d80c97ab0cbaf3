import {
  type AccessContext,
  bodyFault,
  changeJson,
  formBoundary,
  type JsonChange,
  type MediaType,
  mediaType,
  namedValues,
  OffThreadError,
  type Reply,
  refuse,
  resolved,
  type TransformValues,
} from '../../plugin-sdk/index.ts';
import { type ArgumentChange, argumentChange, isEmpty, type RuleTexts } from './arguments.ts';
import { type MultipartChange, multipartChange } from './multipart.ts';
import type { RequestTransformerConfig } from './schema.ts';

const mostFields = 10_000;
const longestQuery = 16_384;

/** What becomes of bodies; null when they are not touched. */
export class BodyChange {
  readonly #rules: RuleTexts;
  readonly #form: ArgumentChange | null;
  readonly #multipart: MultipartChange | null;
  readonly #json: (rendered: readonly string[]) => readonly JsonChange[];
  /** Fields of a form go into the query. */
  readonly #toQuery: boolean;
  readonly #most: number;

  constructor(config: RequestTransformerConfig, values: TransformValues) {
    this.#rules = bodyRules(config);
    this.#form = argumentChange(this.#rules, values);
    this.#multipart = multipartChange(this.#rules, values);
    this.#json = jsonChanges(this.#rules, values);
    this.#toQuery = movesForm(config);
    this.#most = config.max_body_size;
  }

  /** Whether the body of this request is one that is read. */
  concerns(type: MediaType | null): boolean {
    if (type === null) return false;
    if (type.isForm) return true;
    return !isEmpty(this.#rules) && (type.isJson || type.type === 'multipart/form-data');
  }

  async apply(context: AccessContext, type: MediaType, rendered: readonly string[]): Promise<Reply | undefined> {
    const body = await context.decodedBody();
    // The body is shared with plugins that may take a larger one.
    if (body.byteLength > this.#most) return refuse(413, 'Request body too large to be changed');
    if (type.isJson) return this.#changeJson(context, body, rendered);
    return type.isForm ? this.#changeForm(context, body, rendered) : this.#changeParts(context, body, rendered);
  }

  async #changeJson(context: AccessContext, body: Uint8Array, rendered: readonly string[]): Promise<Reply | undefined> {
    try {
      const changed = await changeJson(body, this.#json(rendered), context.client.ip);
      if (changed !== null) context.upstream.setBody(changed);
      return undefined;
    } catch (error) {
      const fault = bodyFault(error);
      if (fault !== null) return refuse(400, fault);
      if (error instanceof OffThreadError)
        return refuse(503, 'Too many large bodies at a time', { 'Retry-After': '1' });
      throw error;
    }
  }

  #changeForm({ upstream }: AccessContext, body: Uint8Array, rendered: readonly string[]): Reply | undefined {
    const text = latin1(body);
    if (countOf(text, '&') >= mostFields) return refuse(413, `The form has more than ${mostFields} fields`);
    const changed = this.#form === null ? text : this.#form(text, rendered);
    if (!this.#toQuery) {
      if (changed !== text) upstream.setBody(Buffer.from(changed, 'latin1'));
      return undefined;
    }
    if (changed.length > longestQuery) return refuse(413, 'The form is too large for a query');
    const query = upstream.query();
    if (changed !== '') upstream.setQuery(query === '' ? changed : `${query}&${changed}`);
    upstream.setBody(new Uint8Array(0));
    upstream.removeHeader('Content-Type');
    return undefined;
  }

  #changeParts({ upstream }: AccessContext, body: Uint8Array, rendered: readonly string[]): Reply | undefined {
    if (this.#multipart === null || body.byteLength === 0) return undefined;
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const boundary = formBoundary(upstream.headerValues('content-type')[0] ?? '');
    const changed = boundary === null ? null : this.#multipart(bytes, boundary, rendered);
    if (changed === null) return refuse(400, 'the body is not valid multipart/form-data');
    upstream.setBody(changed);
    return undefined;
  }
}

/** Null when there is no rule that needs a body. */
export function bodyChange(config: RequestTransformerConfig, values: TransformValues): BodyChange | null {
  return readsBodies(config) ? new BodyChange(config, values) : null;
}

export function readsBodies(config: RequestTransformerConfig): boolean {
  return movesForm(config) || !isEmpty(bodyRules(config));
}

/** The type of the body as the backend would be told; null when it is none, or not exactly one. */
export function bodyType({ upstream }: AccessContext): MediaType | null {
  const types = upstream.headerValues('content-type');
  return types.length === 1 ? mediaType(types[0] as string) : null;
}

function movesForm({ http_method: method }: RequestTransformerConfig): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'DELETE';
}

function bodyRules({ remove, rename, replace, add, append }: RequestTransformerConfig): RuleTexts {
  return {
    remove: remove.body,
    rename: rename.body,
    replace: replace.body,
    add: add.body,
    append: append.body,
  };
}

function jsonChanges(
  texts: RuleTexts,
  values: TransformValues,
): (rendered: readonly string[]) => readonly JsonChange[] {
  const before: readonly JsonChange[] = [
    ...texts.remove.map((name) => ({ kind: 'remove', name }) as const),
    ...namedValues(texts.rename).map(({ name, value }) => ({ kind: 'rename', name, to: value }) as const),
  ];
  const sets = (['replace', 'add', 'append'] as const).flatMap((kind) =>
    values.rules(texts[kind]).map((rule) => ({ ...rule, kind })),
  );
  return (rendered) => [
    ...before,
    ...sets.map(({ kind, name, value }) => ({ kind, name, value: resolved(value, rendered), type: 'string' }) as const),
  ];
}

function latin1(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
}

function countOf(text: string, char: string): number {
  let count = 0;
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) count++;
  return count;
}
