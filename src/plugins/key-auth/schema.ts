import { array, boolean, headerName, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  key_names: array(headerName({ description: 'Name of a header field, query argument or body field.' }), {
    required: true,
    default: ['apikey'],
    description:
      'Names to look for, in this order: each in the header, then the query, then the body. Header names are case-insensitive; other names are not.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description:
      'Removes the key from the request to the backend: every name in `key_names` is removed wherever keys are searched.',
  }),
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid key continue as. Unset: they are rejected.',
  }),
  key_in_header: boolean({ required: true, default: true, description: 'Searches headers for the key.' }),
  key_in_query: boolean({ required: true, default: true, description: 'Searches the query for the key.' }),
  key_in_body: boolean({
    required: true,
    default: false,
    description:
      'Searches bodies (form, multipart form or JSON) of up to 1 MiB for the key. Such bodies are read before they are forwarded.',
  }),
  run_on_preflight: boolean({
    required: true,
    default: true,
    description: 'Requires a key of OPTIONS requests, too.',
  }),
  realm: string({ description: 'Realm in the `WWW-Authenticate` header of rejections.' }),
});

export type KeyAuthConfig = Infer<typeof config>;
