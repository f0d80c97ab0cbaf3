import { type AccessContext, addressGroup } from '../../plugin-sdk/index.ts';
import type { ConcurrencyLimitingConfig } from './schema.ts';

export type Identify = (context: AccessContext) => string;

/** Whose requests count together. What a client chose itself is marked, or it could take the place of another one's address. */
export function identifier(config: ConcurrencyLimitingConfig): Identify {
  const { header_name: header, ipv6_prefix: prefix } = config;
  const address: Identify = ({ client }) => addressGroup(client.ip, prefix);
  switch (config.limit_by) {
    case 'consumer':
      return (context) => context.client.consumer?.id ?? context.client.credential?.id ?? address(context);
    case 'credential':
      return (context) => context.client.credential?.id ?? address(context);
    case 'ip':
      return address;
    case 'route':
      return (context) => context.route?.id ?? address(context);
    case 'service':
      return (context) => context.service?.id ?? address(context);
    case 'header':
      return (context) => {
        const value = context.request.header(header ?? '');
        return value === null ? address(context) : `header ${value}`;
      };
  }
}
