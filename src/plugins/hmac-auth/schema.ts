import { array, boolean, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';
import { algorithmNames } from './signature.ts';

export const config = record({
  hide_credentials: boolean({
    required: true,
    default: false,
    description: 'The backend does not receive the `Authorization` or `Proxy-Authorization` field with the signature.',
  }),
  clock_skew: number({
    default: 300,
    gt: 0,
    unit: 's',
    description:
      'How far `Date` or `X-Date` may be from the time of the gateway. So long, too, a request can be sent again.',
  }),
  anonymous: string({
    description:
      'Id or username of the consumer as which a request without a valid signature goes on. Unset: it is refused.',
  }),
  validate_request_body: boolean({
    required: true,
    default: false,
    description:
      'The `Digest` field (`SHA-256=`) must match the body, and be signed. Bodies of up to 8 MiB are read for it; larger ones are answered with 413.',
  }),
  enforce_headers: array(string({ description: 'Name of a header field, `request-line` or `@request-target`.' }), {
    required: true,
    default: [],
    description: 'What clients must sign at least.',
  }),
  algorithms: array(string({ one_of: algorithmNames, description: 'Name of an algorithm.' }), {
    default: [...algorithmNames],
    description: 'Algorithms that clients may sign with.',
  }),
  realm: string({ description: 'Realm that the refusal names in `WWW-Authenticate`.' }),
});

export type HmacAuthConfig = Infer<typeof config>;
