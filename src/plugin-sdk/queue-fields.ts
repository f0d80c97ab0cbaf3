import { map } from '../schema/collections.ts';
import { headerName, url } from '../schema/common-fields.ts';
import type { FieldOptions } from '../schema/field-meta.ts';
import { type Field, integer, number, type Presence, string } from '../schema/fields.ts';
import { headerNameProblem, urlProblem } from '../schema/formats.ts';
import { record } from '../schema/record.ts';
import { luaProblem } from './log-fields/lua.ts';
import { fieldPathProblem } from './log-fields/paths.ts';
import { templateProblem } from './templates.ts';

/* Fields that the plugins which send or write something for each request have in common, with Kong's names, bounds and defaults. */

/** What a plugin has its own default of. */
export interface QueueDefaults {
  /** Default 1. */
  readonly max_batch_size?: number;
  /** Seconds. Default 1. */
  readonly max_coalescing_delay?: number;
}

/** The `queue` record; `DeliveryQueue` takes it. `what` is what the entries are: `records`. */
export function queueField(what: string, { max_batch_size = 1, max_coalescing_delay = 1 }: QueueDefaults = {}) {
  return record(
    {
      max_batch_size: integer({
        default: max_batch_size,
        between: [1, 1_000_000],
        description: `The most ${what} that are sent at once.`,
      }),
      max_coalescing_delay: number({
        default: max_coalescing_delay,
        between: [0, 3600],
        unit: 's',
        description: `Seconds that ${what} wait for more of them, unless \`max_batch_size\` is reached before.`,
      }),
      max_entries: integer({
        default: 10_000,
        between: [1, 1_000_000],
        description: `The most ${what} that each worker keeps, those on their way included. Beyond, the oldest is dropped.`,
      }),
      max_bytes: integer({
        gt: 0,
        unit: 'bytes',
        description: `The most bytes of ${what} that each worker keeps. Beyond, the oldest is dropped. Null: 16 MiB.`,
      }),
      max_retry_time: number({
        default: 60,
        between: [0, 86_400],
        unit: 's',
        description: 'Seconds for which a batch that cannot be delivered is tried again, before it is dropped.',
      }),
      initial_retry_delay: number({
        default: 0.01,
        between: [0.001, 1_000_000],
        unit: 's',
        description: 'Seconds until the second attempt; twice as long before each further one.',
      }),
      max_retry_delay: number({
        default: 60,
        between: [0.001, 1_000_000],
        unit: 's',
        description: 'The longest pause between two attempts, in seconds.',
      }),
      concurrency_limit: integer({
        default: 1,
        one_of: [-1, 1],
        description: '`1`: a batch is sent when the one before it is done. `-1`: up to 32 at the same time.',
      }),
    },
    { description: `How ${what} are gathered, kept and tried again. Each worker has a queue of its own.` },
  );
}

/** Fields of old versions; `queueSettings` makes them part of the queue. */
export function legacyQueueFields() {
  const deprecation = (message: string, ...path: string[]) => ({
    message,
    ...(path.length === 0 ? {} : { replaced_with: [{ path }] }),
  });
  return {
    retry_count: integer({
      deprecation: deprecation('retry_count has no effect; use queue.max_retry_time'),
      description: 'Deprecated, and without effect: see `queue.max_retry_time`.',
    }),
    queue_size: integer({
      between: [1, 1_000_000],
      deprecation: deprecation('use queue.max_batch_size', 'queue', 'max_batch_size'),
      description: 'Deprecated: `queue.max_batch_size`, and in its place when it is set.',
    }),
    flush_timeout: number({
      between: [0, 3600],
      unit: 's',
      deprecation: deprecation('use queue.max_coalescing_delay', 'queue', 'max_coalescing_delay'),
      description: 'Deprecated: `queue.max_coalescing_delay`, and in its place when it is set.',
    }),
  };
}

/** Where something is sent to by `httpSender`. Userinfo in it is a secret. */
export function endpointUrl<const O extends FieldOptions>(options: O): Field<Presence<string, O>> {
  return url({ custom: endpointProblem, referenceable: true, encrypted: true, ...options }) as Field<
    Presence<string, O>
  >;
}

function endpointProblem(text: string): string | null {
  const problem = urlProblem(text);
  if (problem !== null) return problem;
  if (!/^https?:/i.test(text)) return 'must begin with http:// or https://';
  if (/[\0-\x20\x7f]/.test(text)) return 'must not have spaces or control characters';
  if (!URL.canParse(text)) return 'host or port cannot be read';
  return new URL(text).port === '0' ? 'port must not be 0' : null;
}

/** Headers of all that is sent to such an address; Kong's messages for those that follow from it. */
export function endpointHeaders(description: string) {
  return map(headerName({ custom: headerProblem }), headerValue(), { description });
}

function headerValue() {
  const match_none = [{ pattern: /[\0-\x08\x0a-\x1f\x7f]/, err: 'must not have control characters' }];
  return string({ len_min: 0, referenceable: true, encrypted: true, match_none });
}

const madeHere: ReadonlyMap<string, string> = new Map(
  [
    'Host',
    'Content-Length',
    'Content-Type',
    'Transfer-Encoding',
    'Connection',
    'Expect',
    'Upgrade',
    'TE',
    'Trailer',
  ].map((name) => [name.toLowerCase(), name]),
);

function headerProblem(text: string): string | null {
  const name = madeHere.get(text.toLowerCase());
  return name === undefined ? headerNameProblem(text) : `cannot contain '${name}' header`;
}

/** `custom_fields` and Kong's `custom_fields_by_lua`; `compileLogFields` takes them. */
export function logFields() {
  const path = string({ len_max: 256, custom: fieldPathProblem });
  return {
    custom_fields: map(path, string({ len_min: 0, len_max: 4096, custom: customFieldProblem }), {
      len_max: 100,
      description:
        'Fields to add to the record, or to take the place of some of it: by name, a template such as `$(headers.x_tenant)`. A dot in a name leads into an object (`request.headers.cookie`), `\\.` is a dot itself. A field whose text comes out empty is taken out, so an empty template takes a field out always. Values are as the record shows them: secrets stay masked.',
    }),
    custom_fields_by_lua: map(path, string({ len_max: 4096, custom: luaProblem }), {
      len_max: 100,
      description:
        "The same with expressions as Kong's users write them: `return kong.request.get_header('x-tenant') or 'none'`, `return nil` to take a field out. No Lua runs: texts, numbers, `or`, `..` and the getters of `kong.request`, `kong.response`, `kong.client`, `kong.router` and `kong.ctx.shared` are understood, anything else is refused.",
    }),
  };
}

function customFieldProblem(text: string): string | null {
  return templateProblem(text, { over: 'answer' });
}
