// Generated from the schemas by `npm run generate`. Do not edit.

import type { NestedPlugin } from './plugin-instances.ts';

/** The entities of a config, by the name of their list. Plugins are not in it. */
export interface EntityLists {
  readonly certificates?: readonly CertificateEntry[];
  readonly ca_certificates?: readonly CaCertificateEntry[];
  readonly consumers?: readonly ConsumerEntry[];
  readonly upstreams?: readonly UpstreamEntry[];
  readonly services?: readonly ServiceEntry[];
  readonly snis?: readonly SniEntry[];
  readonly targets?: readonly TargetEntry[];
  readonly routes?: readonly RouteEntry[];
  readonly apis?: readonly ApiEntry[];
  readonly acls?: readonly AclEntry[];
  readonly basicauth_credentials?: readonly BasicauthCredentialEntry[];
  readonly hmacauth_credentials?: readonly HmacauthCredentialEntry[];
  readonly jwt_secrets?: readonly JwtSecretEntry[];
  readonly keyauth_credentials?: readonly KeyauthCredentialEntry[];
  readonly mtls_auth_credentials?: readonly MtlsAuthCredentialEntry[];
  readonly oauth2_credentials?: readonly Oauth2CredentialEntry[];
}

export interface Certificate {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Certificate in PEM, with its chain below it. */
  readonly cert: string;
  /** Private key of the certificate, in PEM. */
  readonly key: string;
  /** A second certificate, with a key of another type. */
  readonly cert_alt?: string | null;
  /** Private key of the second certificate, in PEM. */
  readonly key_alt?: string | null;
  /** OCSP response of the authority for `cert` (base64 of DER), sent to clients that request it. You must renew it in time. */
  readonly ocsp_response?: string | null;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  readonly upstreams?: readonly Upstream[];
  readonly services?: readonly Service[];
  readonly snis?: readonly Sni[];
}

export interface CertificateEntry extends Certificate {}

export interface CaCertificate {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Certificate of the authority, in PEM. */
  readonly cert: string;
  /** SHA-256 of the certificate, in hexadecimal. Always computed; a value that you send is ignored. */
  readonly cert_digest?: string | null;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  readonly mtls_auth_credentials?: readonly MtlsAuthCredential[];
}

export interface CaCertificateEntry extends CaCertificate {}

export interface Consumer {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Unique name of the consumer. */
  readonly username?: string | null;
  /** Unique identifier of the consumer in another system. */
  readonly custom_id?: string | null;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  readonly plugins?: readonly NestedPlugin[];
  readonly acls?: readonly Acl[];
  readonly basicauth_credentials?: readonly BasicauthCredential[];
  readonly hmacauth_credentials?: readonly HmacauthCredential[];
  readonly jwt_secrets?: readonly JwtSecret[];
  readonly keyauth_credentials?: readonly KeyauthCredential[];
  readonly mtls_auth_credentials?: readonly MtlsAuthCredential[];
  readonly oauth2_credentials?: readonly Oauth2Credential[];
}

export interface ConsumerEntry extends Consumer {}

export interface Upstream {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Name of the upstream, a hostname; services refer to it as their host. */
  readonly name: string;
  /** How a target is chosen. Setting `hash_on` sets it to `consistent-hashing`. Default: `round-robin`. */
  readonly algorithm?: 'consistent-hashing' | 'least-connections' | 'round-robin' | 'latency';
  /** What is hashed to choose a target. Default: `none`. */
  readonly hash_on?: 'none' | 'consumer' | 'ip' | 'header' | 'cookie' | 'path' | 'query_arg' | 'uri_capture';
  /** What is hashed if `hash_on` gives nothing. Default: `none`. */
  readonly hash_fallback?: 'none' | 'consumer' | 'ip' | 'header' | 'cookie' | 'path' | 'query_arg' | 'uri_capture';
  /** Header to hash. */
  readonly hash_on_header?: string | null;
  /** Header to hash as a fallback. */
  readonly hash_fallback_header?: string | null;
  /** Cookie to hash. It is set if the client sends none. */
  readonly hash_on_cookie?: string | null;
  /** Path of the cookie that is set. Default: `/`. */
  readonly hash_on_cookie_path?: string;
  /** Query parameter to hash. */
  readonly hash_on_query_arg?: string | null;
  /** Query parameter to hash as a fallback. */
  readonly hash_fallback_query_arg?: string | null;
  /** Group of the route's regular expression to hash. */
  readonly hash_on_uri_capture?: string | null;
  /** Group of the route's regular expression to hash as a fallback. */
  readonly hash_fallback_uri_capture?: string | null;
  /** Number of slots in the ring of consistent hashing. Default: `10000`. */
  readonly slots?: number;
  /** Time in which a target that was added or has recovered grows to its full share. 0: at once. Not in Kong. Unit: s. Default: `0`. */
  readonly slow_start?: number;
  /** How the health of the targets is determined. */
  readonly healthchecks?: {
    /** Probes sent to the targets. */
    readonly active?: {
      /** Protocol of the probes. Default: `http`. */
      readonly type?: 'tcp' | 'http' | 'https' | 'grpc' | 'grpcs';
      /** How long each step of a probe may take: to connect, for TLS, for the answer. 0: one second. Unit: s. Default: `1`. */
      readonly timeout?: number;
      /** How many targets are probed at the same time. Default: `10`. */
      readonly concurrency?: number;
      /** Path that HTTP probes request. Default: `/`. */
      readonly http_path?: string;
      /** TLS server name of HTTPS probes; unset: the target's host. */
      readonly https_sni?: string | null;
      /** Whether HTTPS probes verify the target's certificate. Default: `true`. */
      readonly https_verify_certificate?: boolean;
      /** Headers sent with HTTP probes. */
      readonly headers?: { readonly [name: string]: readonly string[] } | null;
      /** When a probed target becomes healthy. */
      readonly healthy?: {
        /** Time between probes of healthy targets; 0: none. Unit: s. Default: `0`. */
        readonly interval?: number;
        /** Successful probes that make a target healthy; 0: never. Default: `0`. */
        readonly successes?: number;
        /** Statuses that count as a success. */
        readonly http_statuses?: readonly number[];
      };
      /** When a probed target becomes unhealthy. */
      readonly unhealthy?: {
        /** Time between probes of unhealthy targets; 0: none. Unit: s. Default: `0`. */
        readonly interval?: number;
        /** Failed connections that make a target unhealthy; 0: never. Default: `0`. */
        readonly tcp_failures?: number;
        /** Timed-out probes that make a target unhealthy; 0: never. Default: `0`. */
        readonly timeouts?: number;
        /** Failed HTTP probes that make a target unhealthy; 0: never. Default: `0`. */
        readonly http_failures?: number;
        /** Statuses that count as a failure. */
        readonly http_statuses?: readonly number[];
      };
    };
    /** Health checks based on the traffic itself. */
    readonly passive?: {
      /** Protocol of the traffic that is watched. Default: `http`. */
      readonly type?: 'tcp' | 'http' | 'https' | 'grpc' | 'grpcs';
      /** When traffic makes a target healthy. */
      readonly healthy?: {
        /** Successful requests that make a target healthy; 0: never. Default: `0`. */
        readonly successes?: number;
        /** Statuses that count as a success. */
        readonly http_statuses?: readonly number[];
      };
      /** When traffic makes a target unhealthy. */
      readonly unhealthy?: {
        /** Failed connections that make a target unhealthy; 0: never. Default: `0`. */
        readonly tcp_failures?: number;
        /** Timed-out requests that make a target unhealthy; 0: never. Default: `0`. */
        readonly timeouts?: number;
        /** Failed requests that make a target unhealthy; 0: never. Default: `0`. */
        readonly http_failures?: number;
        /** Statuses that count as a failure. */
        readonly http_statuses?: readonly number[];
      };
    };
    /** Percentage of the weight above which the upstream counts as healthy. Unit: %. Default: `0`. */
    readonly threshold?: number;
  };
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  /** Host header sent to the targets; unset: the target's name. */
  readonly host_header?: string | null;
  /** Whether the name in an SRV record is used as the Host header. Default: `false`. */
  readonly use_srv_name?: boolean;
  readonly targets?: readonly Target[];
}

export interface UpstreamEntry extends Upstream {
  /** Certificate shown to the targets. */
  readonly client_certificate?: string | null;
}

export interface Service {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Name of the service. */
  readonly name?: string | null;
  /** How often a failed attempt to reach the backend is repeated. Default: `5`. */
  readonly retries?: number;
  /** Protocol spoken to the backend. Default: `http`. */
  readonly protocol?: 'grpc' | 'grpcs' | 'http' | 'https' | 'tcp' | 'tls' | 'tls_passthrough' | 'udp';
  /** Host of the backend, or the name of an upstream. */
  readonly host?: string;
  /** Port of the backend. Default: `80`. */
  readonly port?: number;
  /** Path that is put before the path of each request. */
  readonly path?: string | null;
  /** How long connecting to the backend may take. Unit: ms. Default: `60000`. */
  readonly connect_timeout?: number;
  /** How long the backend may take between two reads of the request. Unit: ms. Default: `60000`. */
  readonly write_timeout?: number;
  /** How long the backend may pause while it answers. Unit: ms. Default: `60000`. */
  readonly read_timeout?: number;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  /** Whether the backend's certificate is verified; unset: the node's setting. */
  readonly tls_verify?: boolean | null;
  /** Maximum number of certificates between the backend's and the authority's. Unset: the node's setting. */
  readonly tls_verify_depth?: number | null;
  /** A disabled service has no routes in the data plane. Default: `true`. */
  readonly enabled?: boolean;
  /** Sets `protocol`, `host`, `port` and `path` at once. */
  readonly url?: string | null;
  readonly routes?: readonly Route[];
  readonly plugins?: readonly NestedPlugin[];
  readonly apis?: readonly Api[];
}

export interface ServiceEntry extends Service {
  /** Certificate shown to the backend. */
  readonly client_certificate?: string | null;
}

export interface Sni {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** TLS server name; the first or the last character may be `*`. */
  readonly name: string;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface SniEntry extends Sni {
  /** Certificate shown for this name. */
  readonly certificate: string;
}

export interface Target {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Host or address, with a port (8000 when it is missing). */
  readonly target: string;
  /** Share of the load, relative to the other targets. 0: no requests. Default: `100`. */
  readonly weight?: number;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface TargetEntry extends Target {
  /** The upstream that the target belongs to. */
  readonly upstream: string;
}

export interface Route {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Name of the route. */
  readonly name?: string | null;
  /** Protocols that the route accepts. */
  readonly protocols?: readonly ('grpc' | 'grpcs' | 'http' | 'https' | 'tcp' | 'tls' | 'tls_passthrough' | 'udp')[];
  /** Status for a plain HTTP request if the route accepts only HTTPS. Default: `426`. */
  readonly https_redirect_status_code?: 426 | 301 | 302 | 307 | 308;
  /** Whether the matched part of the path is removed before the request is forwarded. Default: `true`. */
  readonly strip_path?: boolean;
  /** Whether the backend gets the client's Host header. Default: `false`. */
  readonly preserve_host?: boolean;
  /** Accepted for compatibility: request bodies always stream. Default: `true`. */
  readonly request_buffering?: boolean;
  /** Accepted for compatibility: response bodies always stream. Default: `true`. */
  readonly response_buffering?: boolean;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  /** Request methods that match. */
  readonly methods?: readonly string[] | null;
  /** Hosts that match. The leftmost or rightmost label may be `*`. */
  readonly hosts?: readonly string[] | null;
  /** Path prefixes that match, or `~` and a regular expression anchored at the beginning. */
  readonly paths?: readonly string[] | null;
  /** Headers that match, with their allowed values; a single value `~*regex` is a regular expression. */
  readonly headers?: { readonly [name: string]: readonly string[] } | null;
  /** Decides between routes that match by regular expression: the higher one wins. Default: `0`. */
  readonly regex_priority?: number;
  /** How the service's path and the request's path are joined. Default: `v0`. */
  readonly path_handling?: 'v0' | 'v1';
  /** The client's addresses that match. Only for streams. */
  readonly sources?:
    | readonly {
        /** Address, or range in CIDR notation. */
        readonly ip?: string | null;
        /** Port. */
        readonly port?: number | null;
      }[]
    | null;
  /** The addresses of the gateway that match. Only for streams. */
  readonly destinations?:
    | readonly {
        /** Address, or range in CIDR notation. */
        readonly ip?: string | null;
        /** Port. */
        readonly port?: number | null;
      }[]
    | null;
  readonly plugins?: readonly NestedPlugin[];
}

export interface RouteEntry extends Route {
  /** Service that gets the requests. Without one, a plugin must answer. */
  readonly service?: string | null;
}

export interface Api {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Name of the API. Default of an import: that of its service. */
  readonly name: string;
  /** Title for readers. */
  readonly title?: string | null;
  /** Version of the API, as its document states it. */
  readonly version?: string | null;
  /** OpenAPI document (3.0 or 3.1), JSON or YAML. It is read when the reference is shown. Lists leave it out. */
  readonly document?: string | null;
  /** Consumers that may call the API see it in the portal. Default: `true`. */
  readonly portal?: boolean;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface ApiEntry extends Api {
  /** Service whose routes carry the requests of the API. */
  readonly service: string;
}

export interface Acl {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Name of the group; any text. */
  readonly group: string;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface AclEntry extends Acl {
  /** The consumer that belongs to the group. */
  readonly consumer: string;
}

export interface BasicauthCredential {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** The user name. */
  readonly username: string;
  /** The password. It is stored and shown as a scrypt hash. A complete hash (bcrypt, scrypt, `$apr1$`, `$1$`, `$5$`, `$6$`, `{SHA}`, `{SSHA}`, `$kong-sha1$`) is stored unchanged. */
  readonly password: string;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface BasicauthCredentialEntry extends BasicauthCredential {
  /** The consumer that the user logs in as. */
  readonly consumer: string;
}

export interface HmacauthCredential {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** The user name in the signature. */
  readonly username: string;
  /** The secret that signs requests. Default: 32 random letters and digits. */
  readonly secret?: string;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface HmacauthCredentialEntry extends HmacauthCredential {
  /** The consumer that the user authenticates as. */
  readonly consumer: string;
}

export interface JwtSecret {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** The value of the claim `key_claim_name` in tokens. Default: 32 random letters and digits. */
  readonly key?: string;
  /** Secret of tokens signed with HS256, HS384 or HS512. Default: a random one. */
  readonly secret?: string;
  /** Public key in PEM format: RSA, EC or Ed25519/Ed448, as the algorithm needs. */
  readonly rsa_public_key?: string | null;
  /** The only algorithm that tokens of this credential may be signed with, whatever the tokens say. Default: `HS256`. */
  readonly algorithm?:
    | 'HS256'
    | 'HS384'
    | 'HS512'
    | 'RS256'
    | 'RS384'
    | 'RS512'
    | 'PS256'
    | 'PS384'
    | 'PS512'
    | 'ES256'
    | 'ES384'
    | 'ES512'
    | 'EdDSA'
    | null;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface JwtSecretEntry extends JwtSecret {
  /** The consumer that tokens of this credential belong to. */
  readonly consumer: string;
}

export interface KeyauthCredential {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** The key. Default: 32 random letters and digits. With the setting `hash_keys`, only the response to the request that sets the key shows it. */
  readonly key?: string;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  /** Seconds until the entity expires, 0 (never) to 100000000. Responses show the remaining seconds. Default: never. Unit: s. */
  readonly ttl?: number | null;
}

export interface KeyauthCredentialEntry extends KeyauthCredential {
  /** The consumer that the key belongs to. */
  readonly consumer: string;
}

export interface MtlsAuthCredential {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** An alternative name (host, email address, URI, IP address) or the common name of the certificate. */
  readonly subject_name: string;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
}

export interface MtlsAuthCredentialEntry extends MtlsAuthCredential {
  /** The consumer that the name belongs to. */
  readonly consumer: string;
  /** The authority that must be in the path of the certificate. Unset: any trusted one. */
  readonly ca_certificate?: string | null;
}

export interface Oauth2Credential {
  /** Identifier, a UUID. Generated if it is not given. */
  readonly id?: string;
  /** Name of the application. */
  readonly name: string;
  /** Public identifier of the application. */
  readonly client_id?: string;
  /** Secret of the application. */
  readonly client_secret?: string;
  /** The secret is stored as a hash. It is shown once, in the response to the request that sets it. Default: `false`. */
  readonly hash_secret?: boolean;
  /** URIs to which users are sent back with the code or token. They are compared character by character. */
  readonly redirect_uris?: readonly string[] | null;
  /** Labels for grouping and filtering. */
  readonly tags?: readonly string[] | null;
  /** `public`: the application runs in a browser or on a phone and has no secret. Default: `confidential`. */
  readonly client_type?: 'confidential' | 'public';
}

export interface Oauth2CredentialEntry extends Oauth2Credential {
  /** The consumer that the application acts as. */
  readonly consumer: string;
}
