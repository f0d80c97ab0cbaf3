import type { Caller, EntityInfo, SchemaList } from '../api/queries.ts';

export const groups = ['Configuration', 'Credentials', 'Certificates', 'Access', 'State'] as const;
export type Group = (typeof groups)[number];

/** An entity with a list of its own, for people. */
export interface Collection {
  readonly info: EntityInfo;
  /** `Services`. */
  readonly title: string;
  /** `service`. */
  readonly one: string;
  readonly group: Group;
}

const known: Readonly<Record<string, readonly [title: string, one: string, group: Group]>> = {
  services: ['Services', 'service', 'Configuration'],
  routes: ['Routes', 'route', 'Configuration'],
  plugins: ['Plugins', 'plugin', 'Configuration'],
  upstreams: ['Upstreams', 'upstream', 'Configuration'],
  targets: ['Targets', 'target', 'Configuration'],
  apis: ['API documents', 'API document', 'Configuration'],
  consumers: ['Consumers', 'consumer', 'Configuration'],
  certificates: ['Certificates', 'certificate', 'Certificates'],
  snis: ['SNIs', 'SNI', 'Certificates'],
  ca_certificates: ['Authorities', 'authority', 'Certificates'],
  admin_users: ['Admin users', 'admin user', 'Access'],
  keyauth_credentials: ['API keys', 'API key', 'Credentials'],
  basicauth_credentials: ['Basic auth', 'basic-auth credential', 'Credentials'],
  hmacauth_credentials: ['HMAC auth', 'HMAC credential', 'Credentials'],
  jwt_secrets: ['JWT', 'JWT credential', 'Credentials'],
  oauth2_credentials: ['OAuth 2 apps', 'OAuth 2 application', 'Credentials'],
  oauth2_tokens: ['OAuth 2 tokens', 'OAuth 2 token', 'State'],
  mtls_auth_credentials: ['Client certificates', 'client certificate', 'Credentials'],
  acls: ['ACL groups', 'ACL group', 'Credentials'],
  sessions: ['Sessions', 'session', 'State'],
};

const order = Object.keys(known);

/** All entities, in the order of the navigation. Entities of other plugins come with the name of their schema. */
export function allCollections({ entities }: SchemaList): readonly Collection[] {
  return entities
    .map((info) => {
      const [title, one, group] = known[info.name] ?? [
        titled(info.name),
        info.name.replaceAll('_', ' '),
        groupOf(info),
      ];
      return { info, title, one, group };
    })
    .sort((a, b) => rank(a) - rank(b));
}

/** `route` for `routes`. */
export function singular(entity: string): string {
  return known[entity]?.[1] ?? entity.replaceAll('_', ' ');
}

/** Those with a list of their own; the others are below a parent. */
export function collectionsOf(schemas: SchemaList): readonly Collection[] {
  return allCollections(schemas).filter(({ info }) => info.path !== null);
}

/** Why nobody, or not this caller, may write the entity; null: it may. Tags are checked by the gateway. */
export function writeProblem(
  { info, title }: Collection,
  { role }: Caller,
  { database }: Readonly<Record<string, unknown>>,
): string | null {
  if (database === 'off' && info.in_config)
    return 'This node has no database: its config comes from a document, and is changed there.';
  if (role === 'admin' || (role === 'edit' && info.name !== 'admin_users')) return null;
  return `Your role may read ${title.toLowerCase()}, and not change them.`;
}

function groupOf({ in_config: inConfig, references }: EntityInfo): Group {
  if (!inConfig) return 'State';
  return references.some(({ entity }) => entity === 'consumers') ? 'Credentials' : 'Configuration';
}

function titled(name: string): string {
  const words = name.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function rank({ info }: Collection): number {
  const at = order.indexOf(info.name);
  return at < 0 ? order.length : at;
}
