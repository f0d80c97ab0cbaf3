/** What a plugin may import at run time. Field types for its schema are in `schema.ts`, the harness in `testing.ts`. */

export { storedCounterKey } from '../limits/counter-key.ts';
export { normalisePath } from '../router/path.ts';
export { addressGroup } from '../util/address-group.ts';
export { BoundedCache } from '../util/bounded-cache.ts';
export { clientGroup, FairQueue, type FairQueueOptions, type Overloaded, overloaded } from '../util/fair-queue.ts';
export { type IpSet, ipSet } from '../util/ip-set.ts';
export { compileRegex } from '../util/linear-regex.ts';
export { type MultipartPart, multipartParts } from '../util/multipart.ts';
export { nowAndThen } from '../util/now-and-then.ts';
export { OutageLog } from '../util/outage-log.ts';
export { parseRate } from '../util/rate.ts';
export type * from './admin-routes.ts';
export type * from './attempts.ts';
export { type AuthAccessOptions, authAccess } from './auth.ts';
export type * from './background.ts';
export { bearerChallenge, bearerToken } from './bearer.ts';
export {
  type BodyArguments,
  bodyArguments,
  decodeArgument,
  formBoundary,
  hasBodyArguments,
  withoutBodyArguments,
} from './body-arguments.ts';
export { BodySyntaxError, positionIn, type TextPosition } from './body-syntax-error.ts';
export { type BackendAnswer, type BackendCall, CallFailed, type CallFailure } from './calls.ts';
export { bodyFault, changeJson } from './change-json.ts';
export type * from './circuits.ts';
export {
  type Claims,
  type ConsumerField,
  claimAt,
  claimList,
  claimText,
  consumerBy,
  hasOneOf,
} from './claims.ts';
export { type ClientKeyOptions, type ClientKind, clientKey } from './client-key.ts';
export { contextKey } from './context-key.ts';
export type * from './contexts.ts';
export { cookieValues } from './cookies.ts';
export { credentialVersion, credentialView } from './credential-view.ts';
export { type DatagramOptions, type Datagrams, longestDatagram, openDatagrams } from './datagrams.ts';
export type * from './define-plugin.ts';
export { allProtocols, definePlugin, httpProtocols } from './define-plugin.ts';
export {
  consumerView,
  type EntityAccess,
  EntityAccessError,
  type EntityRow,
  foreignIdOf,
} from './entity-access.ts';
export { type FetchedDocument, type FetchOptions, fetchDocument, shownUrl } from './fetch-document.ts';
export { framingHeaders, type HeaderNames, headerNames, isFramingHeader } from './header-names.ts';
export { type HttpSender, type HttpSenderOptions, httpSender, type SenderAnswer, SenderFailed } from './http-sender.ts';
export {
  isJsonNumber,
  isJsonObject,
  type JsonArray,
  type JsonNumber,
  type JsonObject,
  type JsonOptions,
  type JsonScalar,
  type JsonValue,
  jsonText,
  parseJson,
  setMember,
} from './json.ts';
export { changeJsonBody, type JsonChange, JsonValueError, type JsonValueType, jsonValue } from './json-changes.ts';
export { type JsonField, jsonField, jsonFieldProblem } from './json-field.ts';
export { hasRepeatedNames } from './json-names.ts';
export { compileJsonPath, type JsonPath, JsonPathError } from './json-path.ts';
export {
  type LabelledCount,
  type LabelledCounts,
  type LabelledCountsContent,
  labelledCounts,
  labelledCountsZone,
  readLabelledCounts,
} from './labelled-counts.ts';
export { type LimiterGuard, limiterGuard } from './limiter-guard.ts';
export type * from './limits.ts';
export { LimiterUnavailable, redisOptions } from './limits.ts';
export { type LineFile, type LineFileOptions, openLineFile } from './line-file.ts';
export { listElements } from './list-elements.ts';
export { compileLogFields, type LogFields, type LogFieldsConfig, type LogSource, logLine } from './log-fields.ts';
export { type MediaType, mediaType } from './media-type.ts';
export { type NamedValue, namedValue } from './named-value.ts';
export { type OffThreadCall, OffThreadError, type OffThreadOptions, offThread } from './off-thread.ts';
export { type OutageReporter, outageReporter } from './outage.ts';
export {
  DeliveryQueue,
  DeliveryRefused,
  type LegacyQueueFields,
  type QueueOptions,
  type QueueSettings,
  queueSettings,
  WaitingTexts,
} from './queue.ts';
export { openRedis, type RedisScript, type RedisServer, RedisUnavailable, redisScript } from './redis.ts';
export type * from './reply.ts';
export { backendReply, refuse, reply, replyJson } from './reply.ts';
export type * from './request-views.ts';
export type * from './response-views.ts';
export { type Sealer, sealer } from './seal.ts';
export {
  type CookieAttributes,
  type SealedCookie,
  type SealedCookieOptions,
  sealedCookie,
  setCookie,
} from './sealed-cookie.ts';
export { equalSecrets } from './secrets.ts';
export { SessionRevocations, sessionKey } from './session-revocations.ts';
export { sharedSecret } from './shared-secret.ts';
export {
  type FlightWait,
  type ScannedEntry,
  type SharedStore,
  type SharedStoreOptions,
  type SharedStoreValue,
  type StoredValue,
  sharedStore,
} from './shared-store.ts';
export type * from './stream-contexts.ts';
export {
  compileTemplate,
  sharedValues,
  type Template,
  type TemplateContext,
  TemplateError,
  TemplateFailure,
  type TemplateOptions,
  type TemplateTarget,
  templateProblem,
  unsafePath,
} from './templates.ts';
export { type TextSender, type TextSenderOptions, type TextSenderTls, textSender } from './text-sender.ts';
export * from './transform-problems.ts';
export {
  headerText,
  namedValues,
  resolved,
  TransformValues,
  type ValueRule,
  type ValueSource,
} from './transform-values.ts';
export type * from './upstream-request-edit.ts';
export { addVary } from './vary.ts';
export { type Turn, WaitingRoom } from './waiting-room.ts';
