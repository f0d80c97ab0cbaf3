import { autoId, createdAt, defineEntity, integer, record, string, ttl } from '../../plugin-sdk/schema.ts';

const sessions = defineEntity({
  name: 'sessions',
  path: 'sessions',
  endpointKey: 'session_id',
  schema: record({
    id: autoId(),
    session_id: string({
      unique: true,
      required: true,
      description: 'Names the session. It cannot be used as a cookie.',
    }),
    expires: integer({ unit: 's', description: 'When the session ends, in seconds since the epoch.' }),
    data: string({ encrypted: true, description: 'The session, encrypted.' }),
    created_at: createdAt(),
    ttl: ttl(),
  }),
});

export const entities = [sessions];
