import { randomBytes } from 'node:crypto';
import { type EntityRow, foreignIdOf } from '../../plugin-sdk/index.ts';

/** An application, from a row of `oauth2_credentials`. */
export interface Client {
  readonly row: EntityRow;
  readonly clientId: string;
  readonly secret: string | null;
  readonly isPublic: boolean;
  readonly redirectUris: readonly string[];
  readonly consumerId: string | null;
}

/** What an access token grants. */
export interface Grant {
  readonly credentialId: string | null;
  readonly serviceId: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Header values; null if there is none. */
  readonly scopeHeader: string | null;
  readonly userHeader: string | null;
  readonly scopes: readonly string[];
}

const clients = new WeakMap<EntityRow, Client>();
const grants = new WeakMap<EntityRow, Grant>();

export function clientOf(row: EntityRow): Client {
  let client = clients.get(row);
  if (client === undefined) {
    const uris = row['redirect_uris'];
    client = {
      row,
      clientId: textOf(row, 'client_id') ?? '',
      secret: textOf(row, 'client_secret'),
      isPublic: row['client_type'] === 'public',
      redirectUris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [],
      consumerId: foreignIdOf(row, 'consumer'),
    };
    clients.set(row, client);
  }
  return client;
}

/** What a row of `oauth2_tokens` grants. */
export function grantOf(row: EntityRow): Grant {
  let grant = grants.get(row);
  if (grant === undefined) {
    const lifetime = Number(row['expires_in']);
    const scope = textOf(row, 'scope');
    grant = {
      credentialId: foreignIdOf(row, 'credential'),
      serviceId: foreignIdOf(row, 'service'),
      expiresAt: lifetime > 0 ? row.created_at + lifetime * 1000 : Number.POSITIVE_INFINITY,
      scopeHeader: headerText(scope),
      userHeader: headerText(textOf(row, 'authenticated_userid')),
      scopes: scopeList(scope),
    };
    grants.set(row, grant);
  }
  return grant;
}

export function textOf(row: EntityRow, field: string): string | null {
  const value = row[field];
  return typeof value === 'string' && value !== '' ? value : null;
}

export function scopeList(scope: string | null): readonly string[] {
  return scope === null ? [] : scope.split(/\s+/).filter((word) => word !== '');
}

/** True for a text that a header cannot contain. */
export function hasControls(text: string): boolean {
  return /[\x00-\x1f\x7f]/.test(text);
}

/** False for a text that is longer than any identifier, code or token: it is not looked up. */
export function canBeStored(text: string): boolean {
  return text.length <= 1024;
}

/** 192 random bits, in characters that never need escaping. */
export function randomToken(): string {
  return randomBytes(24).toString('base64url');
}

/** UTF-8, one char for each byte; null for a text that a header cannot contain. */
function headerText(text: string | null): string | null {
  return text === null || hasControls(text) ? null : Buffer.from(text, 'utf8').toString('latin1');
}
