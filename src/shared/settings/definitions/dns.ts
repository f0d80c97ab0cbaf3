import { nameServers, recordOrder } from '../kinds/dns-kinds.ts';
import { boolean, duration, integer, optionalDuration, string } from '../kinds/kinds.ts';
import { kong } from './definition.ts';

const maxNames = 1_000_000;

export const dns = {
  dns_resolver: kong(
    nameServers,
    '',
    'Name servers. Empty: those of /etc/resolv.conf, which is read again when it changes. Search domains and options always come from that file.',
  ),
  dns_hostsfile: kong(
    string,
    '/etc/hosts',
    'File of names that are not looked up on a server; read again when it changes.',
  ),
  dns_order: kong(
    recordOrder(true),
    'LAST,SRV,A,CNAME',
    'Record types in the order in which they are looked up. `LAST` is the type that was found last time. IPv6 addresses are used only if `AAAA` is in the list.',
  ),
  dns_valid_ttl: kong(optionalDuration('s'), '', 'How long answers are fresh. Empty: the TTL of the records.'),
  dns_stale_ttl: kong(
    duration('s'),
    '3600',
    'How long expired addresses stay in use while the name cannot be resolved.',
  ),
  dns_cache_size: kong(
    integer(1, maxNames),
    '10000',
    'Maximum number of cached names of services. Names of targets do not count.',
  ),
  dns_not_found_ttl: kong(duration('s'), '30', 'How long a name that does not exist is cached.'),
  dns_error_ttl: kong(
    duration('s'),
    '1',
    'How long a failed lookup is cached. The name is looked up again in the background, with pauses that grow from this to 30 s.',
  ),
  dns_no_sync: kong(
    boolean,
    'off',
    'Workers that wait for the same new name send a query each. Requests of one worker always share a query.',
  ),
  new_dns_client: kong(
    boolean,
    'off',
    'Use the `resolver_*` settings instead of the `dns_*` ones. Name resolution is the same either way.',
  ),
  resolver_address: kong(nameServers, '', 'As `dns_resolver`, with `new_dns_client`.'),
  resolver_hosts_file: kong(string, '/etc/hosts', 'As `dns_hostsfile`, with `new_dns_client`.'),
  resolver_family: kong(
    recordOrder(false),
    'A,SRV',
    'As `dns_order`, with `new_dns_client`. Aliases are always followed.',
  ),
  resolver_valid_ttl: kong(optionalDuration('s'), '', 'As `dns_valid_ttl`, with `new_dns_client`.'),
  resolver_error_ttl: kong(duration('s'), '1', 'As `dns_error_ttl` and `dns_not_found_ttl`, with `new_dns_client`.'),
  resolver_stale_ttl: kong(duration('s'), '3600', 'As `dns_stale_ttl`, with `new_dns_client`.'),
  resolver_lru_cache_size: kong(integer(1, maxNames), '10000', 'As `dns_cache_size`, with `new_dns_client`.'),
} as const;
