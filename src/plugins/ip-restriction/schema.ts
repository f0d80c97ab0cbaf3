import { array, type EntityCheck, type Infer, ipOrCidr, number, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  allow: array(ipOrCidr({ description: 'An IP address or a CIDR range.' }), {
    description: 'Allowed clients. If set, all others are rejected.',
  }),
  deny: array(ipOrCidr({ description: 'An IP address or a CIDR range.' }), {
    description: 'Rejected clients, even if `allow` names them.',
  }),
  status: number({ description: 'Status code of a rejection. Default: 403.' }),
  message: string({
    description: 'Message of a rejection. Default: one that names the address.',
  }),
});

export type IpRestrictionConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [{ at_least_one_of: ['config.allow', 'config.deny'] }];
