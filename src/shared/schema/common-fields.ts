import { array, map, set } from './collections.ts';
import type { Field, FieldOptions } from './field-meta.ts';
import { integer, number, type Presence, string } from './fields.ts';
import * as formats from './formats.ts';

/*
 * Fields that many entities and plugins have. Each takes the options of its type, which win over what is set here.
 */

type None = Record<never, never>;
type Text<O> = Field<Presence<string, O>>;
type Whole<O> = Field<Presence<number, O>>;

function textOf<O extends FieldOptions>(attributes: FieldOptions, options: O | undefined): Text<O> {
  return string({ ...attributes, ...options }) as Text<O>;
}

function wholeOf<O extends FieldOptions>(attributes: FieldOptions, options: O | undefined): Whole<O> {
  return integer({ ...attributes, ...options }) as Whole<O>;
}

/** All protocols of services and routes. */
export const PROTOCOLS = ['grpc', 'grpcs', 'http', 'https', 'tcp', 'tls', 'tls_passthrough', 'udp'] as const;

/** The id of an entity. */
export function autoId() {
  return string({ uuid: true, auto: true, description: 'Identifier, a UUID. Generated if it is not given.' });
}

/** Whole seconds since the epoch, on the wire. */
export function createdAt() {
  return integer({ timestamp: true, auto: true, unit: 's', description: 'When the entity was created.' });
}

export function updatedAt() {
  return integer({ timestamp: true, auto: true, unit: 's', description: 'When the entity was last written.' });
}

/** Seconds since the epoch with a fraction down to milliseconds, on the wire. */
export function preciseTimestamp(description: string) {
  return number({ timestamp: true, auto: true, unit: 's', description });
}

export function uuid<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ uuid: true }, options);
}

/** A unique name: letters, digits, `.`, `-`, `_`, `~`, and anything beyond ASCII. */
export function entityName<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ unique: true, custom: formats.nameProblem }, options);
}

/** A hostname or an address, without a port. */
export function host<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.hostProblem }, options);
}

export function port<const O extends FieldOptions = None>(options?: O): Whole<O> {
  return wholeOf({ between: [0, 65535] }, options);
}

/** Milliseconds. */
export function timeout<const O extends FieldOptions = None>(options?: O): Whole<O> {
  return wholeOf({ between: [1, 2147483646], unit: 'ms' }, options);
}

/** A path that starts with `/`, in the characters of RFC 3986. */
export function path<const O extends FieldOptions = None>(options?: O): Text<O> {
  const match_none = [{ pattern: /\/\//, err: 'must not have empty segments' }];
  return textOf({ starts_with: '/', match_none, custom: formats.pathProblem }, options);
}

/** A URL with a scheme and a host. */
export function url<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.urlProblem }, options);
}

export function headerName<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.headerNameProblem }, options);
}

export function cookieName<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.cookieNameProblem }, options);
}

/** An HTTP method in capital letters. */
export function httpMethod<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ match: /^[A-Z]+$/ }, options);
}

/** A regular expression in the router's dialect. */
export function regex<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ is_regex: true }, options);
}

/** A TLS server name. */
export function sni<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.sniProblem }, options);
}

/** A TLS server name in which the first or the last character may be `*`. */
export function wildcardHost<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.wildcardHostProblem }, options);
}

/** An IPv4 or IPv6 address, or a range in CIDR notation. */
export function ipOrCidr<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.ipOrCidrProblem }, options);
}

/** A certificate in PEM; with `referenceable`, also a vault reference. */
export function certificate<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.certificateProblem }, options);
}

/** A private key in PEM; with `referenceable`, also a vault reference. */
export function privateKey<const O extends FieldOptions = None>(options?: O): Text<O> {
  return textOf({ custom: formats.privateKeyProblem }, options);
}

/** Seconds after which an entity expires. An entity that has this field is removed then. */
export function ttl() {
  return integer({
    unit: 's',
    description:
      'Seconds until the entity expires, 0 (never) to 100000000. Responses show the remaining seconds. Default: never.',
  });
}

export function tags() {
  return set(string({ custom: formats.tagProblem }), {
    description: 'Labels for grouping and filtering.',
  });
}

/** Header names to lists of values. */
export function headers(
  options: FieldOptions & { readonly keys?: Text<None>; readonly values?: Field<readonly string[] | null> } = {},
) {
  const { keys = headerName(), values = array(string(), { len_min: 1 }), ...rest } = options;
  return map(keys, values, rest as None);
}

/** Protocols for which a plugin's instance runs. */
export function protocols(allowed: readonly string[], defaults: readonly string[]) {
  return set(string({ one_of: allowed }), {
    required: true,
    default: defaults,
    description: 'Protocols of the requests for which the plugin runs.',
  });
}
