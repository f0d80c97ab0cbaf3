import {
  autoId,
  boolean,
  createdAt,
  defineEntity,
  integer,
  record,
  string,
  updatedAt,
} from 'sluicegate/plugin-sdk/schema';

const flags = defineEntity({
  name: 'feature_flags',
  path: 'feature-flags',
  endpointKey: 'name',
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    updated_at: updatedAt(),
    name: string({ required: true, unique: true, match: /^[a-z0-9-]{1,64}$/, description: 'Name of the flag.' }),
    enabled: boolean({ required: true, default: false, description: 'False: it is off for everyone.' }),
    percent: integer({ required: true, default: 100, between: [0, 100], description: 'Share of the clients.' }),
  }),
});

export const entities = [flags];
