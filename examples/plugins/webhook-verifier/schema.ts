import { array, headerName, integer, record, string } from 'sluicegate/plugin-sdk/schema';

export const config = record({
  secrets: array(string({ len_min: 16, len_max: 1024, encrypted: true, referenceable: true }), {
    required: true,
    len_min: 1,
    len_max: 5,
    description: 'Secrets that are valid now: two of them while the sender changes its secret.',
  }),
  signature_header: headerName({ required: true, default: 'X-Signature', description: 'Has `<prefix><signature>`.' }),
  timestamp_header: headerName({
    required: true,
    default: 'X-Timestamp',
    description: 'Has seconds since the epoch.',
  }),
  prefix: string({
    required: true,
    default: 'sha256=',
    len_min: 0,
    len_max: 32,
    description: 'Before the signature.',
  }),
  algorithm: string({ required: true, default: 'sha256', one_of: ['sha256', 'sha512'], description: 'The hash.' }),
  encoding: string({ required: true, default: 'hex', one_of: ['hex', 'base64'], description: 'Of the signature.' }),
  tolerance: integer({
    required: true,
    default: 300,
    between: [1, 3600],
    unit: 's',
    description: 'Age of a webhook.',
  }),
  max_body: integer({
    required: true,
    default: 1_048_576,
    between: [1, 33_554_432],
    unit: 'bytes',
    description: 'Maximum size of a body.',
  }),
});
