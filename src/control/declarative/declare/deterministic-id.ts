import { createHash } from 'node:crypto';

/*
 * Ids of entities without one, as Kong derives them: UUIDs of version 5 (RFC 9562, 5.5). The namespace of an entity is derived from one
 * for all; the name from the fields that identify the entity.
 */

const root = bytesOf('fd02801f-0957-4a15-a55a-c8d9606f30b5');
const namespaces = new Map<string, Buffer>();

/** `name`: what `idName` returns for the entity of this schema name. */
export function deterministicId(entity: string, name: string): string {
  let namespace = namespaces.get(entity);
  if (namespace === undefined) {
    namespace = digest(root, entity);
    namespaces.set(entity, namespace);
  }
  const hex = digest(namespace, name).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The fields whose values make the name; an auto field among them means that Kong derives no id. */
const identifying: Readonly<Record<string, readonly string[]>> = {
  plugins: ['name', 'route', 'service', 'consumer'],
  targets: ['upstream', 'target'],
  acls: ['consumer', 'group'],
  basicauth_credentials: ['username'],
  hmacauth_credentials: ['username'],
  mtls_auth_credentials: ['subject_name', 'ca_certificate'],
};

/** Entities whose unique field may be generated: Kong gives them a random id even if it is not. */
const random: ReadonlySet<string> = new Set(['keyauth_credentials', 'jwt_secrets', 'oauth2_credentials']);

const optional: ReadonlySet<string> = new Set(['route', 'service', 'consumer', 'ca_certificate']);

export interface Named {
  /** Schema name. */
  readonly entity: string;
  /** The endpoint key of the entity, when it is unique. */
  readonly key: string | null;
  readonly input: Readonly<Record<string, unknown>>;
  /** The entity around it. */
  readonly parent: { readonly field: string; readonly id: string } | null;
}

/** The name that the id is derived from; null when the id is random. References count as they are written. */
export function idName({ entity, key, input, parent }: Named): string | null {
  if (random.has(entity)) return null;
  const fields = identifying[entity];
  if (fields === undefined) {
    const value = key === null ? null : input[key];
    return typeof value === 'string' ? value : null;
  }
  const parts = [entity, '*'];
  for (const field of fields) {
    const value = input[field];
    if (typeof value === 'string') parts.push(value);
    else if (value != null) continue;
    else if (parent?.field === field) parts.push(parent.id);
    else if (optional.has(field) && (entity === 'plugins' || entity === 'mtls_auth_credentials')) parts.push('');
    else return null;
  }
  return parts.join(':');
}

function digest(namespace: Buffer, name: string): Buffer {
  const bytes = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes;
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}
