import { array, boolean, type Infer, integer, record, set, string } from '../../plugin-sdk/schema.ts';

const mediaRange = /^(?:\*\/\*\+[\w.-]+|[a-z0-9][\w.+-]*\/(?:\*|\*\+[\w.-]+|[a-z0-9][\w.+-]*))$/;

function mediaRanges(defaults: readonly string[], description: string) {
  return set(
    string({
      match: mediaRange,
      err: 'must be a media type in lower case, without parameters: type/subtype, type/*, type/*+suffix or */*+suffix',
      description: 'A media type, in lower case.',
    }),
    { required: true, default: defaults, description },
  );
}

export const config = record({
  codings: array(string({ one_of: ['zstd', 'br', 'gzip'], description: 'A content coding.' }), {
    required: true,
    default: ['zstd', 'br', 'gzip'],
    len_min: 1,
    len_max: 3,
    description: 'The codings that answers may get. Of those that the client likes equally well the first one counts.',
  }),
  content_types: mediaRanges(
    [
      'application/javascript',
      'application/json',
      'application/wasm',
      'application/x-ndjson',
      'application/xml',
      'text/*',
      '*/*+json',
      '*/*+xml',
    ],
    'What is worth it. `text/*`, `*/*+json` and the like stand for many.',
  ),
  live_content_types: mediaRanges(
    ['application/jsonl', 'application/x-ndjson', 'multipart/x-mixed-replace', 'text/event-stream'],
    'Streams whose every piece must reach the client at once: what is compressed of it is flushed. An answer with `X-Accel-Buffering: no` is taken for one, too.',
  ),
  min_bytes: integer({
    required: true,
    default: 1024,
    between: [0, 16_777_216],
    description:
      'Bytes that a body must have. One whose length is not known beforehand is compressed. A client that refuses what is not compressed gets smaller ones compressed, too.',
  }),
  gzip_level: integer({ required: true, default: 5, between: [1, 9], description: 'Effort of gzip.' }),
  br_level: integer({
    required: true,
    default: 4,
    between: [0, 7],
    description:
      'Effort of br. Higher levels are for files that are compressed once: they would hold other requests up.',
  }),
  zstd_level: integer({
    required: true,
    default: 3,
    between: [1, 9],
    description: 'Effort of zstd. Higher levels would hold other requests up.',
  }),
  decompress_requests: boolean({
    required: true,
    default: false,
    description:
      'Takes the content coding off request bodies, for backends that cannot. They are buffered for it. Otherwise they are passed on as they are.',
  }),
  max_request_bytes: integer({
    required: true,
    default: 1_048_576,
    between: [1, 104_857_600],
    description:
      'With `decompress_requests`: the largest body, in bytes, before and after. A larger one is answered with 413.',
  }),
});

export type CompressionConfig = Infer<typeof config>;
