import { type Reply, replyJson } from '../../plugin-sdk/index.ts';

/** A refusal of the authorization or token endpoint (RFC 6749 4.1.2.1 and 5.2, with Kong's codes). */
export interface Refusal {
  readonly error: string;
  readonly error_description: string;
}

/** Responses of these endpoints must not be cached (RFC 6749 5.1). */
const uncached = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

export const refusals = {
  https: refusal('access_denied', 'You must use HTTPS'),
  provisionKey: refusal('invalid_provision_key', 'Invalid provision_key'),
  userId: refusal('invalid_authenticated_userid', 'Missing authenticated_userid parameter'),
  responseType: refusal('unsupported_response_type', 'Invalid response_type'),
  grantType: refusal('unsupported_grant_type', 'Invalid grant_type'),
  client: refusal('invalid_client', 'Invalid client authentication'),
  publicSecret: refusal('invalid_request', 'client_secret is disallowed for public clients'),
  publicGrant: refusal('unauthorized_client', 'Public clients cannot use this grant_type'),
  redirectUri: refusal(
    'invalid_request',
    'Invalid redirect_uri that does not match with any redirect_uri created with the application',
  ),
  code: refusal('invalid_request', 'Invalid code'),
  verifier: refusal('invalid_grant', 'Invalid code'),
  noVerifier: refusal('invalid_request', 'code_verifier is required for PKCE authorization requests'),
  challenge: refusal('invalid_request', 'code_challenge is invalid'),
  challengeMethod: refusal('invalid_request', 'code_challenge_method is not supported, must be S256'),
  refreshToken: refusal('invalid_request', 'Invalid refresh_token'),
  noScope: refusal('invalid_scope', 'You must specify a scope'),
  scopeMismatch: refusal('invalid_scope', 'Scope mismatch'),
  malformed: refusal('invalid_request', 'A parameter is given more than once or is malformed'),
  noService: refusal('invalid_request', 'Tokens of this route would not be bound to a service'),
} satisfies Record<string, Refusal>;

export function refusal(error: string, description: string): Refusal {
  return Object.freeze({ error, error_description: description });
}

export function isRefusal(value: object): value is Refusal {
  return 'error' in value;
}

/** A response of the endpoints, with the `state` of the request, if any. */
export function answer(status: number, fields: object, state: string | null, headers = {}): Reply {
  return replyJson(status, state === null ? fields : { ...fields, state }, { ...uncached, ...headers });
}

/** 401 if authentication with the Authorization header failed, otherwise 400. */
export function refuseClient(fields: Refusal, state: string | null, byHeader: boolean): Reply {
  if (!byHeader || fields !== refusals.client) return answer(400, fields, state);
  return answer(401, fields, state, { 'WWW-Authenticate': 'Basic realm="OAuth2.0"' });
}

/** The queue of secrets to check is full. */
export function busy(state: string | null): Reply {
  const fields = refusal('temporarily_unavailable', 'Too many clients authenticate at the same time');
  return answer(503, fields, state, { 'Retry-After': '1' });
}

/** Replies to requests without a valid token (RFC 6750 3). */
export interface TokenRefusals {
  readonly missing: Reply;
  readonly invalid: Reply;
}

export function tokenRefusals(realm: string | null): TokenRefusals {
  const missing = refusal('invalid_request', 'The access token is missing');
  const invalid = refusal('invalid_token', 'The access token is invalid or has expired');
  return {
    missing: replyJson(401, missing, { 'WWW-Authenticate': challenge(realm, null) }),
    invalid: replyJson(401, invalid, { 'WWW-Authenticate': challenge(realm, invalid) }),
  };
}

export function refuseMethod(method: string, endpoint: string, realm: string | null): Reply {
  const fields = refusal('invalid_method', `The HTTP method ${method} is invalid for the ${endpoint} endpoint`);
  return replyJson(405, fields, { Allow: 'POST', 'WWW-Authenticate': challenge(realm, fields) });
}

function challenge(realm: string | null, fields: Refusal | null): string {
  const named = realm === null ? 'Bearer' : `Bearer realm="${realm.replace(/["\\]/g, '\\$&')}"`;
  return fields === null ? named : `${named} error="${fields.error}" error_description="${fields.error_description}"`;
}
