import { compileRegex } from '../../plugin-kit/runtime/index.ts';
import { array, boolean, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'] as const;

export const config = record({
  origins: array(string({ custom: originProblem, description: '`*`, an origin, or a regular expression.' }), {
    description:
      'Origins that may read responses. An entry with a character other than letters, digits, `.`, `:`, `/` and `-` is a regular expression; it matches the host if it has no `:`. Default: all origins.',
  }),
  headers: array(string({ description: 'A header name.' }), {
    description: 'Allowed request headers. Default: those that the preflight requests.',
  }),
  exposed_headers: array(string({ description: 'A header name.' }), {
    description: 'Response headers that scripts may read.',
  }),
  methods: array(string({ one_of: methods, description: 'An HTTP method.' }), {
    default: methods,
    description: 'Allowed methods.',
  }),
  max_age: number({ unit: 's', description: 'How long a browser may cache the response to a preflight.' }),
  credentials: boolean({
    required: true,
    default: false,
    description:
      'Allows requests with cookies or credentials. If all origins are allowed, the response names the origin of the request.',
  }),
  private_network: boolean({
    required: true,
    default: false,
    description: 'Allows public pages to call this address when it is in a private network.',
  }),
  preflight_continue: boolean({
    required: true,
    default: false,
    description: 'Forwards preflights to the backend, which must answer them itself.',
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
