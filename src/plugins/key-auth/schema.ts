import { array, boolean, headerName, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  key_names: array(headerName({ description: 'Name of a header field, query argument or body field.' }), {
    required: true,
    default: ['apikey'],
    description:
      'Names under which the key is looked for, in this order; under each in the header, then the query, then the body. Only header fields may be in any case.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description:
      'The backend does not receive the key: what has one of the names is removed wherever a key is looked for.',
  }),
  anonymous: string({
    description: 'Id or username of the consumer as which a request without a valid key goes on. Unset: it is refused.',
  }),
  key_in_header: boolean({ required: true, default: true, description: 'The key may be in a header field.' }),
  key_in_query: boolean({ required: true, default: true, description: 'The key may be in the query.' }),
  key_in_body: boolean({
    required: true,
    default: false,
    description:
      'The key may be in a body (form, multipart form or JSON) of up to 1 MiB. Such bodies are read before they go on.',
  }),
  run_on_preflight: boolean({
    required: true,
    default: true,
    description: 'OPTIONS requests need a key too.',
  }),
  realm: string({ description: 'Realm that the refusal names in `WWW-Authenticate`.' }),
});

export type KeyAuthConfig = Infer<typeof config>;
