import type { EntityRow } from '../../plugin-sdk/index.ts';
import {
  array,
  autoId,
  boolean,
  type ConcealContext,
  createdAt,
  credentialFields,
  defineEntity,
  foreign,
  integer,
  record,
  string,
  tags,
  ttl,
} from '../../plugin-sdk/schema.ts';
import { hashSecret, isHashed, matchesHash } from './hash-secret.ts';

const credentials = defineEntity({
  name: 'oauth2_credentials',
  path: 'oauth2',
  endpointKey: 'client_id',
  schema: record({
    ...credentialFields('The consumer that the application acts as.'),
    name: string({ required: true, description: 'Name of the application.' }),
    client_id: string({ unique: true, auto: true, description: 'Public identifier of the application.' }),
    client_secret: string({ auto: true, encrypted: true, description: 'Secret of the application.' }),
    hash_secret: boolean({
      required: true,
      default: false,
      description: 'The secret is stored as a hash. It is shown once, in the response to the request that sets it.',
    }),
    redirect_uris: array(string({ custom: redirectUriProblem, description: 'A URI without a fragment.' }), {
      description:
        'URIs to which users are sent back with the code or token. They are compared character by character.',
    }),
    tags: tags(),
    client_type: string({
      required: true,
      default: 'confidential',
      one_of: ['confidential', 'public'] as const,
      description: '`public`: the application runs in a browser or on a phone and has no secret.',
    }),
  }),
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'oauth2' }],
  conceal: concealSecret,
});

/** One authorization, see token-families.ts. */
const families = defineEntity({
  name: 'oauth2_families',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    service: foreign('services', { on_delete: 'cascade', description: 'The service that the user authorized.' }),
    credential: foreign('oauth2_credentials', {
      required: true,
      on_delete: 'cascade',
      description: 'The application that was authorized.',
    }),
    ttl: ttl(),
  }),
});

const tokens = defineEntity({
  name: 'oauth2_tokens',
  inConfig: false,
  path: 'oauth2_tokens',
  endpointKey: 'access_token',
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    service: foreign('services', {
      on_delete: 'cascade',
      description: 'The service at which the token is valid; unset: every one with `global_credentials`.',
    }),
    credential: foreign('oauth2_credentials', {
      required: true,
      on_delete: 'cascade',
      description: 'The application that the token was issued to.',
    }),
    family: foreign('oauth2_families', {
      on_delete: 'cascade',
      description: 'The authorization that the token was issued for. Tokens of one authorization are revoked together.',
    }),
    token_type: string({
      required: true,
      default: 'bearer',
      one_of: ['bearer'] as const,
      description: 'How the token is used.',
    }),
    expires_in: integer({
      required: true,
      unit: 's',
      description: 'Lifetime of the access token from its creation. 0: it does not expire.',
    }),
    access_token: string({ unique: true, auto: true, encrypted: true, description: 'The access token.' }),
    refresh_token: string({ unique: true, encrypted: true, description: 'The refresh token, if there is one.' }),
    authenticated_userid: string({ description: 'The user that the application acts for.' }),
    scope: string({ description: 'Scopes of the token, separated by spaces.' }),
    tags: tags(),
    ttl: ttl(),
  }),
  nestedUnder: [
    { entity: 'services', field: 'service', path: 'oauth2_tokens' },
    { entity: 'oauth2_credentials', field: 'credential', path: 'oauth2_tokens' },
  ],
});

const authorizationCodes = defineEntity({
  name: 'oauth2_authorization_codes',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    service: foreign('services', { on_delete: 'cascade', description: 'The service that the code is for.' }),
    credential: foreign('oauth2_credentials', {
      required: true,
      on_delete: 'cascade',
      description: 'The application that the code was issued to.',
    }),
    family: foreign('oauth2_families', {
      on_delete: 'cascade',
      description: 'The authorization that the code belongs to.',
    }),
    plugin: foreign('plugins', { on_delete: 'cascade', description: 'The plugin instance that issued the code.' }),
    code: string({ unique: true, auto: true, encrypted: true, description: 'The code.' }),
    authenticated_userid: string({ description: 'The user that logged in.' }),
    scope: string({ description: 'Scopes that were requested.' }),
    challenge: string({ description: 'The PKCE challenge.' }),
    challenge_method: string({ one_of: ['S256', 'plain'] as const, description: 'Method of the challenge.' }),
    redirect_uri: string({ description: 'The redirection URI, if the request named one.' }),
    token_id: string({
      uuid: true,
      description: 'Written by earlier versions: the token that the code was exchanged for.',
    }),
    ttl: ttl(),
  }),
});

export const entities = [credentials, families, tokens, authorizationCodes];

/** Schemes that execute code or read files in a browser. */
const unsafeSchemes = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:']);

function redirectUriProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || unsafeSchemes.has(url.protocol) || !/^[\x21-\x7e]+$/.test(text)) return `cannot parse '${text}'`;
  return text.includes('#') ? `fragment not allowed in '${text}'` : null;
}

/** Stores a hash unchanged: it was stored before, or comes from Kong or a backup. */
async function concealSecret(row: EntityRow, { before }: ConcealContext) {
  const secret = row['client_secret'];
  if (row['hash_secret'] !== true || typeof secret !== 'string' || isHashed(secret)) return { stored: row, shown: {} };
  const stored = before?.['client_secret'];
  // Writing the same secret again changes nothing.
  if (typeof stored === 'string' && (await matchesHash(stored, secret))) {
    return { stored: { ...row, client_secret: stored }, shown: { client_secret: secret } };
  }
  return { stored: { ...row, client_secret: await hashSecret(secret) }, shown: { client_secret: secret } };
}
