import { map } from '../../shared/schema/collections.ts';
import { headerName, url } from '../../shared/schema/common-fields.ts';
import type { Field, FieldOptions } from '../../shared/schema/field-meta.ts';
import { integer, number, type Presence, string } from '../../shared/schema/fields.ts';
import { headerNameProblem, urlProblem } from '../../shared/schema/formats.ts';
import { record } from '../../shared/schema/record.ts';
import { luaProblem } from '../telemetry/log-fields/lua.ts';
import { fieldPathProblem } from '../telemetry/log-fields/paths.ts';
import { templateProblem } from '../templates/templates.ts';

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
        description: `Maximum number of ${what} in one batch.`,
      }),
      max_coalescing_delay: number({
        default: max_coalescing_delay,
        between: [0, 3600],
        unit: 's',
        description: `Maximum time that ${what} wait for the batch to fill up to \`max_batch_size\`.`,
      }),
      max_entries: integer({
        default: 10_000,
        between: [1, 1_000_000],
        description: `Maximum number of ${what} that each worker keeps, including those being sent. Beyond it the oldest is dropped.`,
      }),
      max_bytes: integer({
        gt: 0,
        unit: 'bytes',
        description: `Maximum size of the ${what} that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB.`,
      }),
      max_retry_time: number({
        default: 60,
        between: [0, 86_400],
        unit: 's',
        description: 'Time for which delivery of a batch is retried before it is dropped.',
      }),
      initial_retry_delay: number({
        default: 0.01,
        between: [0.001, 1_000_000],
        unit: 's',
        description: 'Delay before the first retry. It doubles with each further one.',
      }),
      max_retry_delay: number({
        default: 60,
        between: [0.001, 1_000_000],
        unit: 's',
        description: 'Maximum delay between two attempts.',
      }),
      concurrency_limit: integer({
        default: 1,
        one_of: [-1, 1],
        description: '`1`: batches are sent one after the other. `-1`: up to 32 at the same time.',
      }),
    },
    { description: `How ${what} are batched, kept and retried. Each worker has its own queue.` },
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
      description: 'Deprecated and ignored: see `queue.max_retry_time`.',
    }),
    queue_size: integer({
      between: [1, 1_000_000],
      deprecation: deprecation('use queue.max_batch_size', 'queue', 'max_batch_size'),
      description: 'Deprecated: overrides `queue.max_batch_size` when set.',
    }),
    flush_timeout: number({
      between: [0, 3600],
      unit: 's',
      deprecation: deprecation('use queue.max_coalescing_delay', 'queue', 'max_coalescing_delay'),
      description: 'Deprecated: overrides `queue.max_coalescing_delay` when set.',
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
        'Fields to add to the record or to replace in it: a name and a template such as `$(headers.x_tenant)`. A dot in a name leads into an object (`request.headers.cookie`); `\\.` is a literal dot. A field whose template renders empty is removed, so an empty template always removes it. Values are those of the record: secrets stay masked.',
    }),
    custom_fields_by_lua: map(path, string({ len_max: 4096, custom: luaProblem }), {
      len_max: 100,
      description:
        "The same with Kong's Lua expressions: `return kong.request.get_header('x-tenant') or 'none'`, or `return nil` to remove a field. No Lua is executed: strings, numbers, `or`, `..` and the getters of `kong.request`, `kong.response`, `kong.client`, `kong.router` and `kong.ctx.shared` are supported; everything else is rejected.",
    }),
  };
}

function customFieldProblem(text: string): string | null {
  return templateProblem(text, { over: 'answer' });
}
