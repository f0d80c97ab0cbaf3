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
        'Authentication plugins of which one is enough. They are configured beside this one, and tried in the order in which plugins run.',
    },
  ),
  anonymous: string({
    description:
      'Id or username of the consumer to go on with when none of them accepts the client. Unset: it is refused.',
  }),
  run_on_preflight: boolean({
    required: true,
    default: true,
    description: 'Refuse `OPTIONS` requests too that none of them accepts.',
  }),
});

export type AuthAnyConfig = Infer<typeof config>;
