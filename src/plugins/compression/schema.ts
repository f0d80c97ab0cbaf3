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
    description: 'Content codings of responses. If the client accepts several equally, the first one is used.',
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
    'Content types that are compressed. `text/*`, `*/*+json` and the like are wildcards.',
  ),
  live_content_types: mediaRanges(
    ['application/jsonl', 'application/x-ndjson', 'multipart/x-mixed-replace', 'text/event-stream'],
    'Content types of streams that are flushed after each piece. So is any response with `X-Accel-Buffering: no`.',
  ),
  min_bytes: integer({
    required: true,
    default: 1024,
    between: [0, 16_777_216],
    description:
      'Minimum size of a body in bytes. A body of unknown length is compressed, and so is any body for a client that rejects uncompressed responses.',
  }),
  gzip_level: integer({ required: true, default: 5, between: [1, 9], description: 'Compression level of gzip.' }),
  br_level: integer({
    required: true,
    default: 4,
    between: [0, 7],
    description: 'Compression level of br. Higher levels would delay other requests.',
  }),
  zstd_level: integer({
    required: true,
    default: 3,
    between: [1, 9],
    description: 'Compression level of zstd. Higher levels would delay other requests.',
  }),
  decompress_requests: boolean({
    required: true,
    default: false,
    description:
      'Decodes compressed request bodies for backends that cannot. They are buffered. If off, they are forwarded unchanged.',
  }),
  max_request_bytes: integer({
    required: true,
    default: 1_048_576,
    between: [1, 104_857_600],
    description:
      'With `decompress_requests`: maximum size of a body in bytes, before and after decoding. A larger one is answered with 413.',
  }),
});

export type CompressionConfig = Infer<typeof config>;
