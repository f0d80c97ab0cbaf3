import { formBoundary, type MediaType, mediaType } from '../../plugin-kit/http/index.ts';
import { bodyFault, changeJson, type JsonChange, jsonField } from '../../plugin-kit/json/index.ts';
import { OffThreadError } from '../../plugin-kit/runtime/index.ts';
import { namedFields, resolved, type TransformValues } from '../../plugin-kit/templates/index.ts';
import { type AccessContext, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { type ArgumentChange, argumentChange, isEmpty, type RuleTexts } from './arguments.ts';
import { type MultipartChange, multipartChange } from './multipart.ts';
import type { RequestTransformerConfig } from './schema.ts';

const maxFields = 10_000;
const maxQueryLength = 16_384;

/** The changes of bodies; null: none. */
export class BodyChange {
  readonly #rules: RuleTexts;
  readonly #form: ArgumentChange | null;
  readonly #multipart: MultipartChange | null;
  readonly #json: (rendered: readonly string[]) => readonly JsonChange[];
  /** Moves form fields to the query. */
  readonly #toQuery: boolean;
  readonly #most: number;

  constructor(config: RequestTransformerConfig, values: TransformValues) {
    this.#rules = bodyRules(config);
    this.#form = argumentChange(this.#rules, values, namedFields);
    this.#multipart = multipartChange(this.#rules, values);
    this.#json = jsonChanges(this.#rules, values);
    this.#toQuery = movesForm(config);
    this.#most = config.max_body_size;
  }

  /** Whether the body of this request is read. */
  concerns(type: MediaType | null): boolean {
    if (type === null) return false;
    if (type.isForm) return true;
    return !isEmpty(this.#rules) && (type.isJson || type.type === 'multipart/form-data');
  }

  async apply(context: AccessContext, type: MediaType, rendered: readonly string[]): Promise<Reply | undefined> {
    const body = await context.decodedBody();
    // Another plugin may allow a larger body.
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
    if (countOf(text, '&') >= maxFields) return refuse(413, `The form has more than ${maxFields} fields`);
    const changed = this.#form === null ? text : this.#form(text, rendered);
    if (!this.#toQuery) {
      if (changed !== text) upstream.setBody(Buffer.from(changed, 'latin1'));
      return undefined;
    }
    if (changed.length > maxQueryLength) return refuse(413, 'The form is too large for a query');
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

/** The `Content-Type` for the backend; null when it is absent or ambiguous. */
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
  const fields = [texts.rename, texts.replace, texts.add, texts.append].flatMap(namedFields).map(({ name }) => name);
  // Parses paths now, not with the first body.
  for (const name of [...texts.remove, ...fields]) jsonField(name);
  const before: readonly JsonChange[] = [
    ...texts.remove.map((name) => ({ kind: 'remove', name }) as const),
    ...namedFields(texts.rename).map(({ name, value }) => ({ kind: 'rename', name, to: value }) as const),
  ];
  const sets = (['replace', 'add', 'append'] as const).flatMap((kind) =>
    values.rules(texts[kind], namedFields).map((rule) => ({ ...rule, kind })),
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
