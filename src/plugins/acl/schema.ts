import { array, boolean, type EntityCheck, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  allow: array(string({ description: 'Name of a group.' }), {
    description: 'Groups whose members may pass; nobody else may.',
  }),
  deny: array(string({ description: 'Name of a group.' }), {
    description: 'Groups whose members are refused; everybody else may pass.',
  }),
  hide_groups_header: boolean({
    required: true,
    default: false,
    description: "Do not tell the backend the client's groups.",
  }),
  always_use_authenticated_groups: boolean({
    required: true,
    default: false,
    description:
      'Use the groups that the authentication vouches for, where it names any, also when there is a consumer; else they are used only without one.',
  }),
});

export type AclConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { only_one_of: ['config.allow', 'config.deny'] },
  { at_least_one_of: ['config.allow', 'config.deny'] },
];
