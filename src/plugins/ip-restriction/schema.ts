import { array, type EntityCheck, type Infer, ipOrCidr, number, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  allow: array(ipOrCidr({ description: 'An address, or a range in CIDR notation.' }), {
    description: 'Clients that may pass. When it is set, all others are refused.',
  }),
  deny: array(ipOrCidr({ description: 'An address, or a range in CIDR notation.' }), {
    description: 'Clients that are refused, also when `allow` names them.',
  }),
  status: number({ description: 'Status of the refusal. 403 when it is not set.' }),
  message: string({
    description: 'Message of the refusal. When it is not set, it names the address that is not allowed.',
  }),
});

export type IpRestrictionConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [{ at_least_one_of: ['config.allow', 'config.deny'] }];
