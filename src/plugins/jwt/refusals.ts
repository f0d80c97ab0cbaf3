import { type Reply, replyJson } from '../../plugin-sdk/index.ts';

/** Kong's responses to requests without a valid token. */
export interface Refusals {
  missing(): Reply;
  invalid(message: string): Reply;
  claims(problems: Readonly<Record<string, string>>): Reply;
}

export function jwtRefusals(realm: string | null): Refusals {
  const quoted = realm === null ? '' : ` realm="${realm.replace(/["\\]/g, '\\$&').replace(/[\0-\x1f\x7f]/g, '')}"`;
  const plain = { 'WWW-Authenticate': `Bearer${quoted}` };
  const invalid = { 'WWW-Authenticate': `Bearer${quoted} error="invalid_token"` };
  const missing = replyJson(401, { message: 'Unauthorized' }, plain);
  return {
    missing: () => missing,
    invalid: (message) => replyJson(401, { message }, invalid),
    claims: (problems) => replyJson(401, problems, invalid),
  };
}
