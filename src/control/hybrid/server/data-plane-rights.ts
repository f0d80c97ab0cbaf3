import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { applyPatch } from '../../../shared/entities/rows.ts';

/**
 * What data planes may do with the rows of an entity. `write`: `managed` permits to create and change rows, each with the tag
 * `managed-by-acme` before and after. `feed`: what a change contains: the whole `row`, only the `keys` by which it is looked up, or
 * `nothing`.
 */
export interface EntityRights {
  readonly read: boolean;
  readonly write: 'none' | 'any' | 'managed';
  readonly feed: 'row' | 'keys' | 'nothing';
}

export interface DataPlaneRights {
  of(definition: EntityDefinition): EntityRights;
  /** The row that is stored instead of `row`. Throws a `TypeError` when a data plane must not write it. `before`: null for a new one. */
  admitted(definition: EntityDefinition, row: Row, before: Row | null): Row;
}

const config: EntityRights = { read: true, write: 'none', feed: 'row' };
/** Written by the ACME plugin of whichever node obtains the certificate. */
const certificates: EntityRights = { read: true, write: 'managed', feed: 'row' };
const lookedUp: EntityRights = { read: true, write: 'none', feed: 'keys' };
/** Tokens, sessions: written by plugins in requests and in the background. */
const state: EntityRights = { read: true, write: 'any', feed: 'keys' };
/** The row is the message: each node reads it in the change. */
const message: EntityRights = { read: true, write: 'any', feed: 'row' };
/** Set by the Admin API of a control plane; a data plane only reads them. */
const mark: EntityRights = { read: true, write: 'none', feed: 'row' };
const hidden: EntityRights = { read: false, write: 'none', feed: 'nothing' };

/** A test requires a decision here for every entity of the gateway and its plugins. */
export const decided: Readonly<Record<string, EntityRights>> = {
  services: config,
  routes: config,
  plugins: config,
  upstreams: config,
  targets: config,
  ca_certificates: config,
  certificates,
  snis: certificates,
  /** Data planes have no use for the documents, which are large. */
  apis: lookedUp,
  consumers: lookedUp,
  acls: lookedUp,
  basicauth_credentials: lookedUp,
  hmacauth_credentials: lookedUp,
  jwt_secrets: lookedUp,
  keyauth_credentials: lookedUp,
  mtls_auth_credentials: lookedUp,
  oauth2_credentials: lookedUp,
  oauth2_families: state,
  oauth2_tokens: state,
  oauth2_authorization_codes: state,
  sessions: state,
  revoked_sessions: state,
  acme_storage: state,
  acme_challenges: state,
  health_marks: mark,
  node_messages: message,
  admin_users: hidden,
  admin_tokens: hidden,
};

const managedTag = 'managed-by-acme';

/** Entities of other plugins: data planes read config, and read and write state. */
export const dataPlaneRights: DataPlaneRights = {
  of({ name, inConfig }) {
    if (Object.hasOwn(decided, name)) return decided[name] ?? hidden;
    return inConfig ? lookedUp : state;
  },
  admitted(definition, row, before) {
    if (this.of(definition).write === 'managed' && ![row, before ?? row].every(isManaged)) {
      throw new TypeError(`a data plane can only write ${definition.name} with the tag ${managedTag}`);
    }
    // Those are the gateway's own, such as the log level of all nodes; others are between instances of one plugin.
    if (definition.name === 'node_messages' && String(row['plugin']).startsWith('@')) {
      throw new TypeError('a data plane can only send messages of plugins');
    }
    // Validates the complete row: nothing changes.
    const result = applyPatch(definition, row, {}, { now: row.created_at });
    if (!result.ok) throw new TypeError(`a data plane has sent ${definition.name} that are not valid`);
    return result.row;
  },
};

function isManaged(row: Row): boolean {
  const tags = row['tags'];
  return Array.isArray(tags) && tags.includes(managedTag);
}
