import { array, boolean, type EntityCheck, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  allow: array(string({ description: 'Name of a group.' }), {
    description: 'Groups whose members are allowed. All other clients are rejected.',
  }),
  deny: array(string({ description: 'Name of a group.' }), {
    description: 'Groups whose members are rejected. All other authenticated clients are allowed.',
  }),
  hide_groups_header: boolean({
    required: true,
    default: false,
    description: "Does not send the client's groups to the backend.",
  }),
  always_use_authenticated_groups: boolean({
    required: true,
    default: false,
    description:
      'Uses the groups that the authentication names, even if there is a consumer. If off, they are used only without a consumer.',
  }),
});

export type AclConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { only_one_of: ['config.allow', 'config.deny'] },
  { at_least_one_of: ['config.allow', 'config.deny'] },
];
