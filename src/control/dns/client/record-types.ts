/** Numbers of the record types that lead to an address (RFC 1035 3.2.2, RFC 3596, RFC 2782). */
export const recordTypes = { A: 1, CNAME: 5, AAAA: 28, SRV: 33 } as const;

export type RecordTypeName = keyof typeof recordTypes;

interface CommonFields {
  /** Owner: lower case, without the final dot. */
  readonly name: string;
  /** Seconds. */
  readonly ttl: number;
}

export interface AddressRecord extends CommonFields {
  readonly type: 'A' | 'AAAA';
  readonly ip: string;
}

export interface AliasRecord extends CommonFields {
  readonly type: 'CNAME';
  readonly target: string;
}

export interface ServiceRecord extends CommonFields {
  readonly type: 'SRV';
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  /** Empty for `.`: the service is explicitly not available. */
  readonly target: string;
}

export type DnsRecord = AddressRecord | AliasRecord | ServiceRecord;

/** Name of a type, or null for one that we do not support. */
export function recordTypeName(type: number): RecordTypeName | null {
  switch (type) {
    case recordTypes.A:
      return 'A';
    case recordTypes.AAAA:
      return 'AAAA';
    case recordTypes.CNAME:
      return 'CNAME';
    case recordTypes.SRV:
      return 'SRV';
    default:
      return null;
  }
}
