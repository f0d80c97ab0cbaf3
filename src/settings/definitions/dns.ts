import { nameServers, recordOrder } from '../dns-kinds.ts';
import { boolean, duration, integer, optionalDuration, string } from '../kinds.ts';
import { kong } from './definition.ts';

const mostNames = 1_000_000;

export const dns = {
  dns_resolver: kong(
    nameServers,
    '',
    'Name servers. Empty: those of /etc/resolv.conf, which is read again when it changes. Search domains and options come from there in any case.',
  ),
  dns_hostsfile: kong(string, '/etc/hosts', 'File of names that no server is asked for; read again when it changes.'),
  dns_order: kong(
    recordOrder(true),
    'LAST,SRV,A,CNAME',
    'Types of records in the order in which they are asked for; `LAST` is the type that was found last time. IPv6 addresses are used only when `AAAA` is in it.',
  ),
  dns_valid_ttl: kong(
    optionalDuration('s'),
    '',
    'How long answers are taken as fresh. Empty: as long as the records say.',
  ),
  dns_stale_ttl: kong(
    duration('s'),
    '3600',
    'How long expired addresses may still be used while the name cannot be resolved.',
  ),
  dns_cache_size: kong(
    integer(1, mostNames),
    '10000',
    'Most names of services that are kept; those of targets are not counted.',
  ),
  dns_not_found_ttl: kong(duration('s'), '30', 'How long it is remembered that a name does not exist.'),
  dns_error_ttl: kong(
    duration('s'),
    '1',
    'How long it is remembered that a name could not be resolved. It is tried again in the background, with pauses that grow from this to 30 s.',
  ),
  dns_no_sync: kong(
    boolean,
    'off',
    'Workers that wait for the same new name do not share one query; requests of one worker do.',
  ),
  new_dns_client: kong(
    boolean,
    'off',
    'The `resolver_*` settings count in place of the `dns_*` ones. Name resolution is the same either way.',
  ),
  resolver_address: kong(nameServers, '', 'As `dns_resolver`, with `new_dns_client`.'),
  resolver_hosts_file: kong(string, '/etc/hosts', 'As `dns_hostsfile`, with `new_dns_client`.'),
  resolver_family: kong(
    recordOrder(false),
    'A,SRV',
    'As `dns_order`, with `new_dns_client`; aliases are always followed.',
  ),
  resolver_valid_ttl: kong(optionalDuration('s'), '', 'As `dns_valid_ttl`, with `new_dns_client`.'),
  resolver_error_ttl: kong(duration('s'), '1', 'As `dns_error_ttl` and `dns_not_found_ttl`, with `new_dns_client`.'),
  resolver_stale_ttl: kong(duration('s'), '3600', 'As `dns_stale_ttl`, with `new_dns_client`.'),
  resolver_lru_cache_size: kong(integer(1, mostNames), '10000', 'As `dns_cache_size`, with `new_dns_client`.'),
} as const;
