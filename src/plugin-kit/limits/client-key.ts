import type { AccessContext } from '../../plugin-sdk/contexts.ts';
import { addressGroup } from '../../shared/util/net/address-group.ts';

/** What requests are counted by. */
export type ClientKind = 'consumer' | 'credential' | 'ip' | 'service' | 'route' | 'header' | 'path';

export interface ClientKeyOptions {
  /** The header of the kind `header`. */
  readonly header?: string | null;
  /** The path of the kind `path`. */
  readonly path?: string | null;
  /** IPv6 addresses with this many bits in common are one client. Default: 64. */
  readonly ipv6Prefix?: number;
}

/**
 * Makes the function that returns the key of a request for a limiter. A request without that property is counted by its credential
 * (kind `consumer`), otherwise by its address. What a client chooses, such as the value of a header, has a prefix, so it cannot use up
 * the limit of another client's address.
 */
export function clientKey(kind: ClientKind, options: ClientKeyOptions = {}): (context: AccessContext) => string {
  const { header, path, ipv6Prefix = 64 } = options;
  const address = ({ client }: AccessContext): string => addressGroup(client.ip, ipv6Prefix);
  switch (kind) {
    case 'consumer':
      return (context) => context.client.consumer?.id ?? context.client.credential?.id ?? address(context);
    case 'credential':
      return (context) => context.client.credential?.id ?? address(context);
    case 'ip':
      return address;
    case 'service':
      return (context) => context.service?.id ?? address(context);
    case 'route':
      return (context) => context.route?.id ?? address(context);
    case 'header': {
      const name = header ?? '';
      return (context) => {
        const value = context.request.header(name);
        return value === null ? address(context) : `header ${value}`;
      };
    }
    case 'path':
      return (context) => (context.request.path === path ? `path ${path}` : address(context));
  }
}
