import { array, boolean, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';
import { algorithmNames } from './signature.ts';

export const config = record({
  hide_credentials: boolean({
    required: true,
    default: false,
    description:
      'Removes the header with the signature (`Authorization` or `Proxy-Authorization`) from the request to the backend.',
  }),
  clock_skew: number({
    default: 300,
    gt: 0,
    unit: 's',
    description:
      "Maximum difference between `Date` or `X-Date` and the gateway's clock. A request can be replayed for that long.",
  }),
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid signature continue as. Unset: they are rejected.',
  }),
  validate_request_body: boolean({
    required: true,
    default: false,
    description:
      'Requires a `Digest` header (`SHA-256=`) that matches the body. Bodies of up to 8 MiB are read for it; larger ones are answered with 413.',
  }),
  enforce_headers: array(string({ description: 'Name of a header field, `request-line` or `@request-target`.' }), {
    required: true,
    default: [],
    description: 'Headers that clients must sign at least.',
  }),
  algorithms: array(string({ one_of: algorithmNames, description: 'Name of an algorithm.' }), {
    default: [...algorithmNames],
    description: 'Accepted signature algorithms.',
  }),
  realm: string({ description: 'Realm in the `WWW-Authenticate` header of rejections.' }),
});

export type HmacAuthConfig = Infer<typeof config>;
