import { integer, path, record, string } from 'sluicegate/plugin-sdk/schema';

export const config = record({
  service: string({ required: true, description: 'Id or name of the service that knows the tokens.' }),
  path: path({ required: true, default: '/check', description: 'It answers 200 with `{"id"}`, 401 or 403.' }),
  timeout: integer({
    required: true,
    default: 2000,
    between: [10, 60_000],
    unit: 'ms',
    description: 'For one call.',
  }),
  ttl: integer({
    required: true,
    default: 60,
    between: [1, 3600],
    unit: 's',
    description: 'How long an answer counts.',
  }),
  anonymous: string({ description: 'Consumer for requests without a valid token. Default: they are refused.' }),
});
