import { type BaseContext, contextKey } from '../../plugin-sdk/contexts.ts';
import type { ResponseHeadView } from '../../plugin-sdk/response-views.ts';
import type { UpstreamRequestEdit } from '../../plugin-sdk/upstream-request-edit.ts';
import { memberOf, textOf, utf8FromLatin1, type Value } from './values.ts';

/** The context of any phase after routing. */
export interface TemplateContext extends BaseContext {
  readonly upstream?: Pick<UpstreamRequestEdit, 'headerValues'>;
  readonly response?: ResponseHeadView;
}

/** Values for templates of plugins that run later, as `$(shared.name)`: `context.set(sharedValues, { name: 'x' })`. */
export const sharedValues = contextKey<Readonly<Record<string, unknown>>>('shared');

/** The first name of an expression. */
export interface Root {
  /** Null: it can only be used with a member. */
  readonly itself: ((context: TemplateContext) => Value) | null;
  /** `name` is the result of `prepare`, which runs once if the name is known when the template is compiled. */
  member(context: TemplateContext, name: string): Value;
  readonly prepare?: (name: string) => string;
  /** All members; null: any name. */
  readonly names: readonly string[] | null;
  /** Its values are parts of a normalised path. */
  readonly isPath?: boolean;
}

export const roots: ReadonlyMap<string, Root> = new Map<string, Root>([
  ['headers', { itself: null, member: headerText, prepare: (name) => name.toLowerCase(), names: null }],
  ['query_params', { itself: null, member: ({ request }, name) => request.queryArgument(name), names: null }],
  ['uri_captures', { itself: null, member: capture, names: null, isPath: true }],
  ['shared', open((context) => context.get(sharedValues) ?? null)],
  ['claims', open(({ client }) => client.details?.claims ?? null)],
  [
    'consumer',
    fields({
      id: ({ client }) => client.consumer?.id ?? null,
      username: ({ client }) => client.consumer?.username ?? null,
      custom_id: ({ client }) => client.consumer?.customId ?? null,
    }),
  ],
  [
    'credential',
    fields({
      id: ({ client }) => client.credential?.id ?? null,
      identifier: ({ client }) => client.credential?.identifier ?? null,
    }),
  ],
  ['client', fields({ ip: ({ client }) => client.ip })],
  ['route', fields({ id: ({ route }) => route?.id ?? null, name: ({ route }) => route?.name ?? null })],
  [
    'service',
    fields({
      id: ({ service }) => service?.id ?? null,
      name: ({ service }) => service?.name ?? null,
      host: ({ service }) => service?.host ?? null,
    }),
  ],
  [
    'request',
    fields({
      id: ({ request }) => request.id,
      method: ({ request }) => request.method,
      scheme: ({ request }) => request.scheme,
      host: ({ request }) => request.host,
      port: ({ request }) => request.port,
      path: ({ request }) => utf8FromLatin1(request.path),
      query: ({ request }) => utf8FromLatin1(request.query),
    }),
  ],
]);

/** The roots of templates over an answer. */
export const answerRoots: ReadonlyMap<string, Root> = new Map<string, Root>([
  ...roots,
  ['response', fields({ status: ({ response }) => response?.status ?? null })],
  [
    'response_headers',
    {
      itself: null,
      member: ({ response }, name) => joined(response?.headerValues(name) ?? []),
      prepare: (name) => name.toLowerCase(),
      names: null,
    },
  ],
]);

function fields(readers: Readonly<Record<string, (context: TemplateContext) => Value>>): Root {
  return {
    itself: null,
    member: (context, name) => (Object.hasOwn(readers, name) ? (readers[name]?.(context) ?? null) : null),
    names: Object.keys(readers),
  };
}

function open(read: (context: TemplateContext) => object | null): Root {
  return { itself: read, member: (context, name) => memberOf(read(context), name), names: null };
}

/** Verified values replace the client's claims; these headers are written after the plugins. */
const believed: ReadonlyMap<string, (context: TemplateContext) => Value> = new Map<
  string,
  (context: TemplateContext) => Value
>([
  ['host', ({ request }) => request.header('host')],
  ['x-real-ip', ({ client }) => client.ip],
  ['x-forwarded-for', ({ client }) => client.ip],
  ['x-forwarded-proto', ({ request }) => request.scheme],
  ['x-forwarded-host', ({ request }) => request.host],
  ['x-forwarded-port', ({ request }) => request.port],
  ['x-forwarded-path', ({ request }) => request.rawPath],
]);

/** As the backend would receive it. Underscores match hyphens if no header has exactly this name. */
function headerText(context: TemplateContext, name: string): Value {
  const found = joined(context.upstream?.headerValues(name) ?? context.request.headerValues(name));
  if (found !== null) return found;
  const known = believed.get(name);
  if (known !== undefined) return known(context);
  return name.includes('_') ? headerText(context, name.replaceAll('_', '-')) : null;
}

function joined(values: readonly string[]): string | null {
  if (values.length === 0) return null;
  return utf8FromLatin1(values.length === 1 ? (values[0] as string) : values.join(', '));
}

function capture({ request }: TemplateContext, name: string): Value {
  return request.uriCaptures()[name] ?? null;
}

/** The name of a member that is not known before the request. */
export function nameFrom(key: Value, { prepare }: Root): string {
  const name = textOf(key);
  return prepare === undefined ? name : prepare(name);
}
