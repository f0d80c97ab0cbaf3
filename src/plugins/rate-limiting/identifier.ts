import { type AccessContext, addressGroup } from '../../plugin-sdk/index.ts';
import type { RateLimitingConfig } from './schema.ts';

export type Identify = (context: AccessContext) => string;

/**
 * What a request is counted under. What clients choose themselves, such as the value of a header, begins with a letter of
 * its own, so that nobody can use up what another one has.
 */
export function identifier(
  by: RateLimitingConfig['rate_by'],
  config: Pick<RateLimitingConfig, 'header_name' | 'path' | 'ipv6_prefix'>,
): Identify {
  const { header_name: header, path, ipv6_prefix: prefix } = config;
  const address: Identify = ({ client }) => addressGroup(client.ip, prefix);
  switch (by) {
    case 'consumer':
      return (context) => context.client.consumer?.id ?? context.client.credential?.id ?? address(context);
    case 'credential':
      return (context) => context.client.credential?.id ?? address(context);
    case 'service':
      return (context) => context.service?.id ?? address(context);
    case 'header': {
      const name = header ?? '';
      return (context) => {
        const value = context.request.header(name);
        return value === null ? address(context) : `h${value}`;
      };
    }
    case 'path':
      return (context) => (context.request.path === path ? `p${path}` : address(context));
    case 'ip':
      return address;
  }
}
