import type { JsonObject } from './json-object.ts';

const newTokenProperties = {
  name: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 128,
    pattern: '^[A-Za-z0-9._~-]+$',
    description: 'What the token is for.',
  },
  ttl: {
    type: ['integer', 'null'],
    minimum: 0,
    maximum: 100_000_000,
    description: 'Seconds until the token expires. 0 or null: never.',
  },
};

/** The body that creates a token: neither the token nor the user can be chosen. */
const newTokenSchema: JsonObject = { type: 'object', properties: newTokenProperties, additionalProperties: false };

/** A token as answers show it. */
const issuedTokenSchema: JsonObject = {
  type: 'object',
  required: ['id', 'created_at', 'user', 'name', 'token_prefix', 'last_used_at', 'expires_at'],
  properties: {
    ...newTokenProperties,
    id: { type: 'string', format: 'uuid' },
    created_at: { type: 'integer', description: 'Seconds since the epoch.' },
    user: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } },
    token_prefix: { type: 'string', description: 'First characters of the token, for recognition.' },
    last_used_at: { type: ['string', 'null'], format: 'date-time', description: 'To the minute.' },
    expires_at: { type: ['integer', 'null'], description: 'Seconds since the epoch; null: never.' },
    token: { type: 'string', description: 'Only in the answer that creates the token.' },
  },
  additionalProperties: false,
};

/** `user`: the schema of admin users. */
export function adminUserSchemas(user: JsonObject): JsonObject {
  const { properties, ...rest } = user;
  const token = { type: 'string', description: 'Of the first user, when nobody had to sign in before.' };
  return {
    new_admin_token: newTokenSchema,
    issued_admin_token: issuedTokenSchema,
    created_admin_user: { ...rest, properties: { ...(properties as JsonObject), token } },
  };
}
