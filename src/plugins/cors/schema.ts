import { compileRegex } from '../../plugin-sdk/index.ts';
import { array, boolean, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'] as const;

export const config = record({
  origins: array(
    string({ custom: originProblem, description: '`*`, an origin, or a regular expression over the whole origin.' }),
    {
      description:
        'Origins that may read the answers. An entry with a character other than letters, digits, `.`, `:`, `/` and `-` ' +
        'is a regular expression; one without a `:` is compared with the host alone. All origins when it is not set.',
    },
  ),
  headers: array(string({ description: 'A header name.' }), {
    description: 'Request headers that are allowed. Those that the preflight asks for when it is not set.',
  }),
  exposed_headers: array(string({ description: 'A header name.' }), {
    description: 'Response headers that scripts may read.',
  }),
  methods: array(string({ one_of: methods, description: 'An HTTP method.' }), {
    default: methods,
    description: 'Methods that are allowed.',
  }),
  max_age: number({ unit: 's', description: 'How long a browser may keep the answer to a preflight.' }),
  credentials: boolean({
    required: true,
    default: false,
    description:
      'Allows requests with cookies or credentials. Together with all origins, it names the origin that asks.',
  }),
  private_network: boolean({
    required: true,
    default: false,
    description: 'Allows public pages to reach this address when it is in a private network.',
  }),
  preflight_continue: boolean({
    required: true,
    default: false,
    description: 'Passes preflights on to the backend, which must answer them itself.',
  }),
});

export type CorsConfig = Infer<typeof config>;

function originProblem(origin: string): string | null {
  if (origin === '*') return null;
  try {
    compileRegex(origin);
    return null;
  } catch {
    return `'${origin}' is not a valid regex`;
  }
}
