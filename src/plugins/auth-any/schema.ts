import { boolean, type Infer, record, set, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  methods: set(
    string({
      one_of: [
        'basic-auth',
        'hmac-auth',
        'jwt',
        'key-auth',
        'ldap-auth',
        'mtls-auth',
        'oauth2',
        'oauth2-introspection',
        'openid-connect',
        'session',
      ],
      description: 'Name of an authentication plugin.',
    }),
    {
      required: true,
      len_min: 2,
      description:
        'Authentication plugins. One of them must accept the request. Configure them in addition to this one. They are tried in the order in which plugins run.',
    },
  ),
  anonymous: string({
    description:
      'Id or username of the consumer that requests continue as if no method accepts them. Unset: they are rejected.',
  }),
  run_on_preflight: boolean({
    required: true,
    default: true,
    description: 'Rejects `OPTIONS` requests, too, if no method accepts them.',
  }),
});

export type AuthAnyConfig = Infer<typeof config>;
