import {
  autoId,
  createdAt,
  defineEntity,
  integer,
  record,
  revokeSession,
  string,
  ttl,
} from '../../plugin-sdk/schema.ts';

const sessions = defineEntity({
  name: 'sessions',
  inConfig: false,
  path: 'sessions',
  endpointKey: 'session_id',
  schema: record({
    id: autoId(),
    session_id: string({
      unique: true,
      required: true,
      description: 'Id of the session. It cannot be used as a cookie.',
    }),
    expires: integer({ unit: 's', description: 'When the session ends, in seconds since the epoch.' }),
    login: string({
      computed: true,
      description: 'Identifies the login that started the session; the same for all renewals.',
    }),
    login_expires: integer({
      computed: true,
      unit: 's',
      description: 'When the last cookie of that login expires, in seconds since the epoch.',
    }),
    subject: string({
      computed: true,
      description: 'Identifies the credential: sessions with the same value are counted together.',
    }),
    data: string({ encrypted: true, description: 'The session, encrypted.' }),
    created_at: createdAt(),
    ttl: ttl(),
  }),
  lookups: ['subject'],
  beforeDelete: async (row, writer) => {
    const { login, login_expires: until } = row;
    if (typeof login === 'string' && typeof until === 'number') await revokeSession(writer, login, until);
  },
});

export const entities = [sessions];
