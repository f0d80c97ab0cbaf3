/**
 * What authentication plugins share: `sluicegate/plugin-kit/auth`. `authAccess` applies Kong's rules for `anonymous` and
 * preflight requests; `credentialView` and `consumerBy` find out who the client is; `sealedCookie`, `sealer` and
 * `SessionRevocations` keep what a browser holds; `verifyHmac` checks signatures.
 */

export { type AuthAccessOptions, authAccess } from './auth.ts';
export { bearerChallenge, bearerToken } from './bearer.ts';
export { type Claims, type ConsumerField, claimAt, claimList, claimText, consumerBy, hasOneOf } from './claims.ts';
export { credentialVersion, credentialView } from './credential-view.ts';
export { type HmacCheck, type HmacScheme, signHmac, timestampProblem, verifyHmac } from './hmac-signatures.ts';
export { type Sealer, sealer } from './seal.ts';
export { type SealedCookie, type SealedCookieOptions, sealedCookie } from './sealed-cookie.ts';
export { equalSecrets } from './secrets.ts';
export { SessionRevocations, sessionKey } from './session-revocations.ts';
export { sharedSecret } from './shared-secret.ts';
