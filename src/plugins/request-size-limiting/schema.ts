import { boolean, type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  allowed_payload_size: integer({
    default: 128,
    description: 'Maximum size of a request body, in units of `size_unit`.',
  }),
  size_unit: string({
    required: true,
    default: 'megabytes',
    one_of: ['megabytes', 'kilobytes', 'bytes'],
    description: 'Unit of the limit: a kilobyte is 1024 bytes, a megabyte 1024 kilobytes.',
  }),
  require_content_length: boolean({
    required: true,
    default: false,
    description: 'Rejects requests that have neither a `Content-Length` nor a chunked body.',
  }),
});

export type RequestSizeLimitingConfig = Infer<typeof config>;
