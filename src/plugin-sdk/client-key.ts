import { addressGroup } from '../util/address-group.ts';
import type { AccessContext } from './contexts.ts';

/** By what requests are counted together. */
export type ClientKind = 'consumer' | 'credential' | 'ip' | 'service' | 'route' | 'header' | 'path';

export interface ClientKeyOptions {
  /** The header of the kind `header`. */
  readonly header?: string | null;
  /** The path of the kind `path`. */
  readonly path?: string | null;
  /** IPv6 addresses that have this many bits in common are one client. Default 64. */
  readonly ipv6Prefix?: number;
}

/**
 * Makes the function that tells whose request it is, for limits: requests with the same key count together. Where there is
 * no such thing it is the credential (for a consumer), and then the address. What a client chooses itself, such as the value
 * of a header, is marked, or it could use up what another one's address has.
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
