import { headerName } from '../../shared/schema/common-fields.ts';
import type { EntityCheck } from '../../shared/schema/entity-checks.ts';
import { integer, string } from '../../shared/schema/fields.ts';

/** The fields of a limit per client: what identifies the client, and the reply beyond the limit. Use `clientLimitChecks` with them. */
export function clientLimitFields<const M extends string>(message: M) {
  return {
    limit_by: string({
      required: true,
      default: 'consumer',
      one_of: ['consumer', 'credential', 'ip', 'route', 'service', 'header'],
      description:
        'What identifies a client. If a request has no such value, its credential counts (for `consumer`), and then its address.',
    }),
    header_name: headerName({ description: 'Header whose values are counted, for `limit_by` `header`.' }),
    ipv6_prefix: integer({
      required: true,
      default: 64,
      between: [1, 128],
      description: 'Length of the IPv6 prefix that counts as one client.',
    }),
    error_code: integer({
      required: true,
      default: 429,
      between: [400, 599],
      description: 'Status code of a rejection.',
    }),
    error_message: string({ required: true, default: message, description: 'Message of a rejection.' }),
  };
}

/** `limit_by` `header` needs the name of the header. */
export const clientLimitChecks: readonly EntityCheck[] = [
  {
    conditional: {
      if_field: 'config.limit_by',
      if_match: { eq: 'header' },
      then_field: 'config.header_name',
      then_match: { required: true },
    },
  },
];
