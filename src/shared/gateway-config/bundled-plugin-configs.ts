// Generated from the schemas by `npm run generate`. Do not edit.

/** The configuration of each bundled plugin, by the name of the plugin. */
export interface BundledPluginConfigs {
  readonly acl: AclConfig;
  readonly acme: AcmeConfig;
  readonly aggregate: AggregateConfig;
  readonly 'api-versioning': ApiVersioningConfig;
  readonly 'auth-any': AuthAnyConfig;
  readonly authorization: AuthorizationConfig;
  readonly 'basic-auth': BasicAuthConfig;
  readonly 'body-validator': BodyValidatorConfig;
  readonly 'bot-detection': BotDetectionConfig;
  readonly 'circuit-breaker': CircuitBreakerConfig;
  readonly compression: CompressionConfig;
  readonly 'concurrency-limiting': ConcurrencyLimitingConfig;
  readonly 'correlation-id': CorrelationIdConfig;
  readonly cors: CorsConfig;
  readonly 'data-masking': DataMaskingConfig;
  readonly datadog: DatadogConfig;
  readonly 'file-log': FileLogConfig;
  readonly 'grpc-web': GrpcWebConfig;
  readonly 'hmac-auth': HmacAuthConfig;
  readonly 'http-log': HttpLogConfig;
  readonly 'ip-restriction': IpRestrictionConfig;
  readonly jwt: JwtConfig;
  readonly 'key-auth': KeyAuthConfig;
  readonly 'ldap-auth': LdapAuthConfig;
  readonly 'mtls-auth': MtlsAuthConfig;
  readonly oauth2: Oauth2Config;
  readonly 'oauth2-introspection': Oauth2IntrospectionConfig;
  readonly openapi: OpenapiConfig;
  readonly 'openid-connect': OpenidConnectConfig;
  readonly opentelemetry: OpentelemetryConfig;
  readonly pagination: PaginationConfig;
  readonly 'post-function': PostFunctionConfig;
  readonly 'pre-function': PreFunctionConfig;
  readonly prometheus: PrometheusConfig;
  readonly 'proxy-cache': ProxyCacheConfig;
  readonly quotas: QuotasConfig;
  readonly 'rate-limiting': RateLimitingConfig;
  readonly redirect: RedirectConfig;
  readonly 'request-mirror': RequestMirrorConfig;
  readonly 'request-size-limiting': RequestSizeLimitingConfig;
  readonly 'request-termination': RequestTerminationConfig;
  readonly 'request-transformer': RequestTransformerConfig;
  readonly 'request-validator': RequestValidatorConfig;
  readonly 'response-headers': ResponseHeadersConfig;
  readonly 'response-ratelimiting': ResponseRatelimitingConfig;
  readonly 'response-transformer': ResponseTransformerConfig;
  readonly retries: RetriesConfig;
  readonly session: SessionConfig;
  readonly statsd: StatsdConfig;
  readonly syslog: SyslogConfig;
  readonly 'tcp-log': TcpLogConfig;
  readonly throttling: ThrottlingConfig;
  readonly timeouts: TimeoutsConfig;
  readonly 'traffic-split': TrafficSplitConfig;
  readonly 'udp-log': UdpLogConfig;
  readonly 'xml-json': XmlJsonConfig;
  readonly zipkin: ZipkinConfig;
}

export interface AclConfig {
  /** Groups whose members are allowed. All other clients are rejected. */
  readonly allow?: readonly string[] | null;
  /** Groups whose members are rejected. All other authenticated clients are allowed. */
  readonly deny?: readonly string[] | null;
  /** Does not send the client's groups to the backend. Default: `false`. */
  readonly hide_groups_header?: boolean;
  /** Uses the groups that the authentication names, even if there is a consumer. If off, they are used only without a consumer. Default: `false`. */
  readonly always_use_authenticated_groups?: boolean;
}

export interface AcmeConfig {
  /** Email address of the ACME account. The authority writes to it about problems. */
  readonly account_email: string;
  /** Not supported: the gateway creates the account's key and keeps it in its store. */
  readonly account_key?: {
    /** Accepted for compatibility with Kong and ignored. */
    readonly key_id: string;
    /** Accepted for compatibility with Kong and ignored. */
    readonly key_set?: string | null;
  } | null;
  /** URL of the authority's directory (RFC 8555). */
  readonly api_uri?: string | null;
  /** Whether you agree to the authority's terms of service. Let's Encrypt requires it. Default: `false`. */
  readonly tos_accepted?: boolean | null;
  /** Key id of your existing account with the authority (external account binding). */
  readonly eab_kid?: string | null;
  /** HMAC key of that account, in base64url. */
  readonly eab_hmac_key?: string | null;
  /** Key type of the certificates. Default: `rsa`. */
  readonly cert_type?: 'rsa' | 'ecc' | null;
  /** Size of RSA keys in bits. Default: `4096`. */
  readonly rsa_key_size?: 2048 | 3072 | 4096 | null;
  /** Remaining lifetime at which a certificate is renewed, or a third of its lifetime if that is less. Unit: days. Default: `14`. */
  readonly renew_threshold_days?: number | null;
  /** Hosts that may get a certificate. `*.example.com` allows every name below it, each with its own certificate. */
  readonly domains?: readonly string[] | null;
  /** Allows certificates for any host: any name that points at the gateway can trigger an order. Default: `false`. */
  readonly allow_any_domain?: boolean | null;
  /** Time that a host waits after a failure. It doubles after each further one, up to a day. Unit: minutes. Default: `5`. */
  readonly fail_backoff_minutes?: number | null;
  /** How the authority validates the host: by a request to port 80, or by a TLS handshake on port 443. Default: `http-01`. */
  readonly challenge_type?: 'http-01' | 'tls-alpn-01';
  /** Where accounts and challenges are stored: in the gateway's store. `shm` means the same. Default: `kong`. */
  readonly storage?: 'kong' | 'shm' | 'redis' | 'consul' | 'vault' | null;
  /** Accepted for compatibility with Kong and ignored. */
  readonly storage_config?: {
    /** Accepted for compatibility with Kong and ignored. */
    readonly shm?: {
      /** Accepted for compatibility with Kong and ignored. Default: `kong`. */
      readonly shm_name?: string;
    };
    /** Accepted for compatibility with Kong and ignored. */
    readonly kong?: { readonly [name: string]: never } | null;
    /** Accepted for compatibility with Kong and ignored. */
    readonly redis?: {
      /** Accepted for compatibility with Kong and ignored. */
      readonly host?: string | null;
      /** Accepted for compatibility with Kong and ignored. Default: `6379`. */
      readonly port?: number | null;
      /** Accepted for compatibility with Kong and ignored. Unit: ms. Default: `2000`. */
      readonly timeout?: number | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly username?: string | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly password?: string | null;
      /** Accepted for compatibility with Kong and ignored. Default: `0`. */
      readonly database?: number | null;
      /** Accepted for compatibility with Kong and ignored. Default: `false`. */
      readonly ssl?: boolean | null;
      /** Accepted for compatibility with Kong and ignored. Default: `false`. */
      readonly ssl_verify?: boolean | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly server_name?: string | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly extra_options?: {
        /** Accepted for compatibility with Kong and ignored. */
        readonly namespace?: string;
        /** Accepted for compatibility with Kong and ignored. Default: `10`. */
        readonly scan_count?: number | null;
      };
      /** @deprecated Use `password`. */
      readonly auth?: string | null;
      /** @deprecated Use `server_name`. */
      readonly ssl_server_name?: string | null;
      /** @deprecated Use `extra_options.namespace`. */
      readonly namespace?: string | null;
      /** @deprecated Use `extra_options.scan_count`. */
      readonly scan_count?: number | null;
    };
    /** Accepted for compatibility with Kong and ignored. */
    readonly consul?: {
      /** Accepted for compatibility with Kong and ignored. Default: `false`. */
      readonly https?: boolean | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly host?: string | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly port?: number | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly kv_path?: string | null;
      /** Accepted for compatibility with Kong and ignored. Unit: ms. */
      readonly timeout?: number | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly token?: string | null;
    };
    /** Accepted for compatibility with Kong and ignored. */
    readonly vault?: {
      /** Accepted for compatibility with Kong and ignored. Default: `false`. */
      readonly https?: boolean | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly host?: string | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly port?: number | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly kv_path?: string | null;
      /** Accepted for compatibility with Kong and ignored. Unit: ms. */
      readonly timeout?: number | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly token?: string | null;
      /** Accepted for compatibility with Kong and ignored. Default: `true`. */
      readonly tls_verify?: boolean | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly tls_server_name?: string | null;
      /** Accepted for compatibility with Kong and ignored. Default: `token`. */
      readonly auth_method?: 'token' | 'kubernetes' | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly auth_path?: string | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly auth_role?: string | null;
      /** Accepted for compatibility with Kong and ignored. */
      readonly jwt_path?: string | null;
    };
  };
  /** Common name of the topmost issuer of the preferred chain, if the authority offers several. */
  readonly preferred_chain?: string | null;
  /** Accepted for compatibility with Kong and ignored: there are no certificates for IP addresses. Default: `true`. */
  readonly enable_ipv4_common_name?: boolean | null;
}

export interface AggregateConfig {
  /** The parts of the document: one backend call each, or one for each element of a list (`each`). */
  readonly requests: readonly {
    /** Name of the part, in templates of others and in errors. It is also the default `target`. */
    readonly name: string;
    /** Name or id of the service to call. Without it and `url`: the service of the route. */
    readonly service?: string | null;
    /** URL to call instead of a service. A path in it is prepended to `path`. */
    readonly url?: string | null;
    /** Method of the call. Default: `GET`. */
    readonly method?: string;
    /** Path of the call, with references: `/users/{id}`. The path of the service is prepended. A value stays within its segment. */
    readonly path: string;
    /** Query arguments of the call; values may have references. One without a value is left out. */
    readonly query?: { readonly [name: string]: string } | null;
    /** Headers of the call; values may have references. One without a value is left out. */
    readonly headers?: { readonly [name: string]: string } | null;
    /** Headers of the client that the call forwards. Headers about the client (`X-Consumer-*`, `X-Forwarded-*`) are always sent. */
    readonly pass_headers?: readonly string[];
    /** Body of the call, with references. In JSON a reference without quotation marks becomes a value: `{"user": {user.body.id}, "note": "by {consumer.username}"}`. */
    readonly body?: string | null;
    /** Format of `body`: how values in it are escaped, and its `Content-Type` unless `headers` has one. Default: `json`. */
    readonly body_type?: 'json' | 'form' | 'xml';
    /** Timeout of the call, including all attempts. Unit: ms. Default: `5000`. */
    readonly timeout?: number;
    /** Maximum size of the body of a response. A larger one is a failure. Unit: bytes. Default: `1048576`. */
    readonly max_body_size?: number;
    /** Format of the response: JSON, XML that is converted, or text. `auto`: by its `Content-Type`, JSON without one. Default: `auto`. */
    readonly format?: 'auto' | 'json' | 'xml' | 'text';
    /** XML elements that are lists even if there is only one: `order`, `orders/order`, `/root/order`. */
    readonly xml_arrays?: readonly string[] | null;
    /** XML elements and attributes (`@id`) that are numbers. */
    readonly xml_numbers?: readonly string[] | null;
    /** XML elements and attributes that are booleans. */
    readonly xml_booleans?: readonly string[] | null;
    /** Whether a failure of this part fails the whole request. False: the part is null then, and listed under errors. Default: `true`. */
    readonly required?: boolean;
    /** Statuses that become the status of the whole response if the part is required. Others become 502. */
    readonly pass_status?: readonly number[];
    /** Statuses that mean that there is no such object: the part is null, which is not a failure. */
    readonly null_on_status?: readonly number[];
    /** Condition of the call: `{query.expand}`, `!{query.brief}`, `{user.body.kind}=company`, `{user.body.kind}!=guest`. If it does not hold, the part is null. */
    readonly when?: string | null;
    /** Reference to a list, such as `orders.body.data`. The call is made for each of its elements, with `{item}` and `{index}` in the templates. The part is the list of the responses, in the same order. */
    readonly each?: string | null;
    /** Maximum number of elements of `each`. A longer list is a failure. Default: `20`. */
    readonly each_max?: number;
    /** Number of calls of `each` that run at the same time. Default: `5`. */
    readonly each_concurrency?: number;
    /** Adds each response to its element of `each` as this member. The part is then the list of these elements. */
    readonly each_into?: string | null;
    /** Place of the part in the document, as a JSONPath (RFC 9535) of names: `$.user.orders`; `$` merges it into the root. Default: its name. */
    readonly target?: string | null;
    /** Leaves the part out of the document; other parts may refer to it. Default: `false`. */
    readonly hidden?: boolean;
    /** Uses only what is at this place of the response, a JSONPath (RFC 9535): `$.data`, `$.result.items[0]`. Null if nothing is there; a list if the path can lead to several places. */
    readonly unwrap?: string | null;
    /** `first`: a list becomes its first element, an empty one null. `list`: a single value becomes a list with one element. Default: `keep`. */
    readonly collection?: 'keep' | 'first' | 'list';
    /** Keeps only what these JSONPaths (RFC 9535) lead to: `$.id`, `$.orders[*].total`. A name such as `id` is that member, also of each element of a list. */
    readonly pick?: readonly string[] | null;
    /** Removes what these JSONPaths (RFC 9535) lead to: `$..password`. Names as in `pick`. */
    readonly omit?: readonly string[] | null;
    /** Renames members: from a JSONPath (RFC 9535), `$.address.zip`, to the new name. Names as in `pick`. */
    readonly rename?: { readonly [name: string]: string } | null;
    /** Wraps the result into an object, as the member of this name. */
    readonly wrap?: string | null;
  }[];
  /** Timeout of all calls together. A part that is missing by then counts as a timeout. Unit: ms. Default: `10000`. */
  readonly timeout?: number;
  /** Maximum size of the bodies of all responses together, and of the document. Beyond it the client gets 502. Unit: bytes. Default: `8388608`. */
  readonly max_body_size?: number;
  /** Maximum number of backend calls for one request, including those of each `each`. Default: `50`. */
  readonly max_calls?: number;
  /** Maximum size of the body of the client's request. It is read only if a template uses `{body}`. Unit: bytes. Default: `1048576`. */
  readonly max_request_body?: number;
  /** Member of the document that lists failed optional parts. It is present only if there are any. Default: `errors`. */
  readonly errors_field?: string;
  /** Headers of the responses that are forwarded to the client. `Set-Cookie`, `Link`, `Vary` and tags come from every part that is listed for them; any other comes from the first part that has it. */
  readonly response_headers?:
    | readonly {
        /** Name of a part without `each`. */
        readonly part: string;
        /** Headers of its response that are forwarded. */
        readonly names: readonly string[];
      }[]
    | null;
  /** `Cache-Control` of the response: none, or the strictest of the parts. A part without one counts as `no-cache`. An incomplete response always has `no-store`; with `merge` so does one with `each`. Default: `none`. */
  readonly cache_control?: 'none' | 'merge';
}

export interface ApiVersioningConfig {
  /** The versions of the API. */
  readonly versions: readonly {
    /** Name of the version: `v1`, `2`, `2026-01-31`. In headers, queries and media types `1`, `v1` and `V1` are the same. */
    readonly name: string;
    /** Name or id of the service for this version, with its own address, path and timeouts. Null: the route's own. */
    readonly service?: string | null;
    /** Name of the upstream for this version. Everything else stays as in the service. */
    readonly upstream?: string | null;
    /** Prefix of the request's path, after the path of the service. */
    readonly path_prefix?: string | null;
    /** Date from which the version is deprecated, in UTC; may be in the future. Responses have it in `Deprecation` (RFC 9745). A date, or a date and time. */
    readonly deprecated_at?: string | null;
    /** Date from which the version ends, in UTC. Responses have it in `Sunset` (RFC 8594). A date, or a date and time. */
    readonly sunset_at?: string | null;
    /** URL that explains the deprecation: `Link` with `rel="deprecation"`. */
    readonly deprecation_link?: string | null;
    /** URL that explains the end: `Link` with `rel="sunset"`. */
    readonly sunset_link?: string | null;
    /** URL of the next version: `Link` with `rel="successor-version"`. */
    readonly successor_link?: string | null;
  }[];
  /** Places where requests name the version, in this order. The first one that names a version counts. */
  readonly sources?: readonly ('path' | 'header' | 'query' | 'media_type')[];
  /** Version of requests that name none. Null: they are treated like requests for an unknown version. */
  readonly default?: string | null;
  /** Response to requests for an unknown version: 404 with the list, the `default`, or the next lower version (404 if there is none). Default: `not_found`. */
  readonly unknown?: 'not_found' | 'default' | 'nearest_lower';
  /** Source `path`: number of the segment that names the version; 2 for `/api/v1/users`. Default: `1`. */
  readonly path_segment?: number;
  /** Source `path`: removes the segment from the path for the backend. Default: `true`. */
  readonly strip_path_segment?: boolean;
  /** Source `header`: name of the header. Default: `X-API-Version`. */
  readonly header_name?: string;
  /** Source `query`: name of the argument. Default: `version`. */
  readonly query_name?: string;
  /** Source `query`: removes the argument from the query for the backend. Default: `true`. */
  readonly strip_query_argument?: boolean;
  /** Source `media_type`: name of the parameter, as in `application/json; version=2`. Of `Accept`, else of `Content-Type`. Default: `version`. */
  readonly media_type_parameter?: string | null;
  /** Source `media_type`: prefix of the version in a type: `vnd.acme` for `application/vnd.acme.v2+json`. */
  readonly media_type_vendor?: string | null;
  /** Answers requests for a version with 410 from `sunset_at` on. Default: `true`. */
  readonly refuse_after_sunset?: boolean;
  /** Header in which responses name their version. Null: none. */
  readonly response_header?: string | null;
  /** Number of pairs of version and consumer that are counted separately, 200 bytes each; further ones are counted together. 0: none are counted. A change resets the counts. Default: `2000`. */
  readonly usage_entries?: number;
}

export interface AuthAnyConfig {
  /** Authentication plugins. One of them must accept the request. Configure them in addition to this one. They are tried in the order in which plugins run. */
  readonly methods: readonly (
    | 'basic-auth'
    | 'hmac-auth'
    | 'jwt'
    | 'key-auth'
    | 'ldap-auth'
    | 'mtls-auth'
    | 'oauth2'
    | 'oauth2-introspection'
    | 'openid-connect'
    | 'session'
  )[];
  /** Id or username of the consumer that requests continue as if no method accepts them. Unset: they are rejected. */
  readonly anonymous?: string | null;
  /** Rejects `OPTIONS` requests, too, if no method accepts them. Default: `true`. */
  readonly run_on_preflight?: boolean;
}

export interface AuthorizationConfig {
  /** Rules, checked from first to last. The first one whose conditions are all met decides. */
  readonly rules: readonly {
    /** Name of the rule in the logs. Unique within the list. */
    readonly name: string;
    /** Effect on requests that meet all conditions of the rule. Default: `allow`. */
    readonly effect?: 'allow' | 'deny';
    /** True: the client has presented a valid credential. False: it has not, or is the anonymous consumer. */
    readonly authenticated?: boolean | null;
    /** The consumer is one of these. */
    readonly consumers?: readonly string[] | null;
    /** The consumer's `custom_id` is one of these. */
    readonly custom_ids?: readonly string[] | null;
    /** The consumer has one of these tags. */
    readonly consumer_tags?: readonly string[] | null;
    /** The client is in one of these groups: of the consumer (`acls`), or named by a token or directory. */
    readonly groups?: readonly string[] | null;
    /** The token has one of these scopes. */
    readonly scopes?: readonly string[] | null;
    /** Each of these claims has one of its values. For a claim that is a list, one element must match. A claim is a name, or a JSONPath (RFC 9535) into nested claims: `$.realm_access.roles`. */
    readonly claims?: { readonly [name: string]: readonly string[] } | null;
    /** The method is one of these. */
    readonly methods?: readonly string[] | null;
    /** The path is one of these or lies below it (`/a`), is exactly that (`=/a`), or matches the expression from its beginning (`~/a/[0-9]+`). */
    readonly paths?: readonly string[] | null;
    /** The client's address is one of these. */
    readonly addresses?: readonly string[] | null;
  }[];
  /** Effect on requests that meet no rule. Default: `deny`. */
  readonly default?: 'allow' | 'deny';
  /** Rejects nothing and only logs what would be rejected. Default: `false`. */
  readonly dry_run?: boolean;
}

export interface BasicAuthConfig {
  /** Id or username of the consumer that requests without a valid login continue as. Unset: they are rejected. */
  readonly anonymous?: string | null;
  /** Removes the header with user name and password from the request to the backend. Default: `false`. */
  readonly hide_credentials?: boolean;
  /** Realm in the `WWW-Authenticate` header of rejections. Browsers show it to the user. Default: `service`. */
  readonly realm?: string;
  /** Path of an htpasswd file. If set, the users are those of the file, not those of consumers. It is read again when it changes. A relative path is relative to the directory where the gateway was started. */
  readonly credentials_file?: string | null;
  /** A user of the file continues as the consumer with the same username, if there is one. Default: `false`. */
  readonly consumer_by_username?: boolean;
  /** How long the outcome of a password check, right or wrong, is cached. A change of the password ends it at once. 0: every request is checked. Unit: s. Default: `300`. */
  readonly cache_ttl?: number;
}

export interface BodyValidatorConfig {
  /** JSON Schema of request bodies, as JSON text. Null: request bodies are not validated. */
  readonly schema?: string | null;
  /** JSON Schema of responses, as JSON text. Null: responses are not validated. */
  readonly response_schema?: string | null;
  /** Draft of schemas without `$schema`. Default: `2020-12`. */
  readonly version?: 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';
  /** `enforce`: rejects invalid requests. `report`: lets them pass, and counts and logs them. Default: `enforce`. */
  readonly mode?: 'enforce' | 'report';
  /** `enforce`: replaces invalid responses by 502. `report`: lets them pass, and counts and logs them. Default: `report`. */
  readonly response_mode?: 'enforce' | 'report';
  /** Content types of request bodies that are validated as JSON. Others are rejected with 415. */
  readonly content_types?: readonly string[];
  /** Methods whose requests must have a body. A body is validated with any method. */
  readonly required_methods?: readonly string[];
  /** Statuses of the responses that are validated. */
  readonly response_statuses?: readonly string[];
  /** Maximum size of a request body (413 beyond), and of a response that is validated. Larger responses pass unvalidated, or are replaced by 502 if `response_mode` is `enforce`. Unit: bytes. Default: `1048576`. */
  readonly max_body_size?: number;
  /** Maximum number of errors in a response. For bodies over 16 KB only the first error is reported. Default: `10`. */
  readonly max_errors?: number;
  /** Responses list the errors. If off, they only say that the body is not valid. Default: `true`. */
  readonly verbose?: boolean;
}

export interface BotDetectionConfig {
  /** Regular expressions of user agents that pass, whatever the other lists say. */
  readonly allow?: readonly string[] | null;
  /** Regular expressions of user agents that are rejected in addition to the built-in list. */
  readonly deny?: readonly string[] | null;
}

export interface CircuitBreakerConfig {
  /** Scope of a circuit: `target`: each address of the upstream, so that the others take over. `service`: the whole service. */
  readonly per?: readonly ('target' | 'service')[];
  /** Length of the window over which calls are counted, in seconds. Default: `10`. */
  readonly window?: number;
  /** Minimum number of calls within the window before a ratio counts. Default: `20`. */
  readonly min_calls?: number;
  /** Percentage of failed calls at which the circuit opens. 0: off. Default: `50`. */
  readonly error_ratio?: number;
  /** Percentage of slow calls at which the circuit opens. 0: off. Default: `0`. */
  readonly slow_ratio?: number;
  /** Time to the first byte of the response, in milliseconds, from which a call is slow. Default: `1000`. */
  readonly slow_call?: number;
  /** Number of failed calls in a row at which the circuit opens. 0: off. Default: `0`. */
  readonly consecutive_failures?: number;
  /** Statuses of the backend that are failures. No connection, a broken one and a timeout always are. */
  readonly failure_statuses?: readonly number[];
  /** Time that the circuit stays open, in seconds. It doubles each time the trials fail. Default: `5`. */
  readonly pause?: number;
  /** Maximum time that the circuit stays open, in seconds. Default: `60`. */
  readonly pause_max?: number;
  /** Number of calls that pass after the pause. All must succeed. Default: `3`. */
  readonly trials?: number;
  /** Time over which the fraction of calls that pass grows to all, in seconds. 0: all at once. Default: `10`. */
  readonly ramp?: number;
  /** Response to requests that no circuit lets through: `none`: 503. `answer`: the response of `fallback_*`. `stale`: the last good response to the same request. `upstream`: the targets of another upstream. Default: `none`. */
  readonly fallback?: 'none' | 'answer' | 'stale' | 'upstream';
  /** Status code for `fallback` `answer`. Default: `503`. */
  readonly fallback_status?: number;
  /** `Content-Type` for `fallback` `answer`. Default: `application/json; charset=utf-8`. */
  readonly fallback_content_type?: string;
  /** Body for `fallback` `answer`. Null: an empty one. */
  readonly fallback_body?: string | null;
  /** Name of the upstream for `fallback` `upstream`. */
  readonly fallback_upstream?: string | null;
  /** Maximum age of a response for `fallback` `stale`, in seconds. Default: `3600`. */
  readonly stale_max_age?: number;
  /** Memory for responses of `fallback` `stale`, in bytes. The workers of the node share it. Default: `16777216`. */
  readonly stale_memory?: number;
  /** Maximum size of a response that is stored for `fallback` `stale`, in bytes. Default: `1048576`. */
  readonly stale_max_body?: number;
}

export interface CompressionConfig {
  /** Content codings of responses. If the client accepts several equally, the first one is used. */
  readonly codings?: readonly ('zstd' | 'br' | 'gzip')[];
  /** Content types that are compressed. `text/*`, `*​/*+json` and the like are wildcards. */
  readonly content_types?: readonly string[];
  /** Content types of streams that are flushed after each piece. So is any response with `X-Accel-Buffering: no`. */
  readonly live_content_types?: readonly string[];
  /** Minimum size of a body in bytes. A body of unknown length is compressed, and so is any body for a client that rejects uncompressed responses. Default: `1024`. */
  readonly min_bytes?: number;
  /** Compression level of gzip. Default: `5`. */
  readonly gzip_level?: number;
  /** Compression level of br. Higher levels would delay other requests. Default: `4`. */
  readonly br_level?: number;
  /** Compression level of zstd. Higher levels would delay other requests. Default: `3`. */
  readonly zstd_level?: number;
  /** Decodes compressed request bodies for backends that cannot. They are buffered. If off, they are forwarded unchanged. Default: `false`. */
  readonly decompress_requests?: boolean;
  /** With `decompress_requests`: maximum size of a body in bytes, before and after decoding. A larger one is answered with 413. Default: `1048576`. */
  readonly max_request_bytes?: number;
}

export interface ConcurrencyLimitingConfig {
  /** Maximum number of requests in flight at the same time. */
  readonly limit: number;
  /** What identifies a client. If a request has no such value, its credential counts (for `consumer`), and then its address. Default: `consumer`. */
  readonly limit_by?: 'consumer' | 'credential' | 'ip' | 'route' | 'service' | 'header';
  /** Header whose values are counted, for `limit_by` `header`. */
  readonly header_name?: string | null;
  /** Length of the IPv6 prefix that counts as one client. Default: `64`. */
  readonly ipv6_prefix?: number;
  /** Status code of a rejection. Default: `429`. */
  readonly error_code?: number;
  /** Message of a rejection. Default: `Too many concurrent requests`. */
  readonly error_message?: string;
}

export interface CorrelationIdConfig {
  /** Name of the header. Default: `Kong-Request-ID`. */
  readonly header_name?: string | null;
  /** Format of generated ids. `uuid`: a random UUID. `uuid#counter`: a UUID of the worker, `#`, and a counter. `tracker`: address and port of the listener, process id, connection, request on it, and the time. Default: `uuid#counter`. */
  readonly generator?: 'uuid' | 'uuid#counter' | 'tracker';
  /** Sends the header to the client, too. Default: `false`. */
  readonly echo_downstream?: boolean;
}

export interface CorsConfig {
  /** Origins that may read responses. An entry with a character other than letters, digits, `.`, `:`, `/` and `-` is a regular expression; it matches the host if it has no `:`. Default: all origins. */
  readonly origins?: readonly string[] | null;
  /** Allowed request headers. Default: those that the preflight requests. */
  readonly headers?: readonly string[] | null;
  /** Response headers that scripts may read. */
  readonly exposed_headers?: readonly string[] | null;
  /** Allowed methods. */
  readonly methods?:
    | readonly ('GET' | 'HEAD' | 'PUT' | 'PATCH' | 'POST' | 'DELETE' | 'OPTIONS' | 'TRACE' | 'CONNECT')[]
    | null;
  /** How long a browser may cache the response to a preflight. Unit: s. */
  readonly max_age?: number | null;
  /** Allows requests with cookies or credentials. If all origins are allowed, the response names the origin of the request. Default: `false`. */
  readonly credentials?: boolean;
  /** Allows public pages to call this address when it is in a private network. Default: `false`. */
  readonly private_network?: boolean;
  /** Forwards preflights to the backend, which must answer them itself. Default: `false`. */
  readonly preflight_continue?: boolean;
}

export interface DataMaskingConfig {
  /** Applied in order. */
  readonly rules: readonly {
    /** Name of the rule in messages. Letters, digits, `_`, `.` and `-`. */
    readonly name: string;
    /** Places in JSON bodies, as JSONPath (RFC 9535), including filters. */
    readonly json_paths?: readonly string[] | null;
    /** Elements and attributes in XML bodies: `/a/b` from the root, `b` or `//b` anywhere, `*` for any name, `@id` at the end. Names are compared without prefixes. */
    readonly xml_paths?: readonly string[] | null;
    /** Fields of forms, urlencoded and multipart. */
    readonly form_fields?: readonly string[] | null;
    /** Query arguments of the request. */
    readonly query_arguments?: readonly string[] | null;
    /** Headers of requests and responses. */
    readonly headers?: readonly string[] | null;
    /** Masks values of these kinds in the places of the rule, or in whole bodies if it names no place. Card numbers and IBANs must have valid check digits. */
    readonly kinds?: readonly ('email' | 'card' | 'iban' | 'phone' | 'ip' | 'jwt')[] | null;
    /** Masks matches of these expressions in the places of the rule, or in whole bodies if it names no place. */
    readonly patterns?: readonly string[] | null;
    /** Where `kinds` and `patterns` are searched in addition to the places of the rule: whole bodies, all headers, all arguments. Null: bodies if the rule names no place. */
    readonly in?: readonly ('body' | 'headers' | 'query')[] | null;
    /** Searches `kinds` and `patterns` in the names of JSON members and form fields, too. Default: `false`. */
    readonly mask_names?: boolean;
    /** Messages that the rule masks. Every rule masks logs; `log` masks nothing else. Default: `both`. */
    readonly direction?: 'both' | 'request' | 'response' | 'log';
    /** What replaces a value: `text`; a keyed hash; or `text` and a part of the value: its first or last characters, or the domain of an email address. Default: `replace`. */
    readonly action?: 'replace' | 'hash' | 'keep_first' | 'keep_last' | 'keep_domain';
    /** Replaces the masked part. ASCII. Default: `***`. */
    readonly text?: string;
    /** Letters and digits that `keep_first` and `keep_last` keep; at most half of the value. Unit: characters. Default: `4`. */
    readonly keep?: number;
    /** Number of hexadecimal digits of a hash. Unit: characters. Default: `16`. */
    readonly hash_length?: number;
    /** Groups of consumers that the rule does not apply to. In logs it always applies. */
    readonly except_groups?: readonly string[] | null;
  }[];
  /** Key of the hashes (HMAC-SHA-256). It must be the same on all nodes, and secret: otherwise short values can be guessed. */
  readonly hash_key?: string | null;
  /** Types of bodies that are passed unread if no rule can mask them. Other such bodies are refused: 415, or 502 for responses. */
  readonly pass_types?: readonly string[];
  /** Maximum request body, without its content coding; larger ones are refused with 413. Unit: bytes. Default: `1048576`. */
  readonly max_request_body?: number;
  /** Maximum response body, without its content coding; larger ones cause 502. Unit: bytes. Default: `8388608`. */
  readonly max_response_body?: number;
  /** Uses the groups of the authentication, if any, even if there is a consumer. Otherwise they are used only without a consumer. As in `acl`. Default: `false`. */
  readonly always_use_authenticated_groups?: boolean;
}

export interface DatadogConfig {
  /** Host name or IP address of the Datadog agent. Default: `localhost`. */
  readonly host?: string | null;
  /** Port of the agent. Default: `8125`. */
  readonly port?: number | null;
  /** Prefix of all metric names. Dots separate its parts. Default: `kong`. */
  readonly prefix?: string | null;
  /** Name of the tag with the service. Default: `name`. */
  readonly service_name_tag?: string | null;
  /** Name of the tag with the status. Default: `status`. */
  readonly status_tag?: string | null;
  /** Name of the tag with the consumer. Default: `consumer`. */
  readonly consumer_tag?: string | null;
  /** Deprecated and ignored: see `queue.max_retry_time`. */
  readonly retry_count?: number | null;
  /** Deprecated: overrides `queue.max_batch_size` when set. */
  readonly queue_size?: number | null;
  /** Deprecated: overrides `queue.max_coalescing_delay` when set. Unit: s. */
  readonly flush_timeout?: number | null;
  /** How requests are batched, kept and retried. Each worker has its own queue. */
  readonly queue?: {
    /** Maximum number of requests in one batch. Default: `1`. */
    readonly max_batch_size?: number | null;
    /** Maximum time that requests wait for the batch to fill up to `max_batch_size`. Unit: s. Default: `1`. */
    readonly max_coalescing_delay?: number | null;
    /** Maximum number of requests that each worker keeps, including those being sent. Beyond it the oldest is dropped. Default: `10000`. */
    readonly max_entries?: number | null;
    /** Maximum size of the requests that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB. Unit: bytes. */
    readonly max_bytes?: number | null;
    /** Time for which delivery of a batch is retried before it is dropped. Unit: s. Default: `60`. */
    readonly max_retry_time?: number | null;
    /** Delay before the first retry. It doubles with each further one. Unit: s. Default: `0.01`. */
    readonly initial_retry_delay?: number | null;
    /** Maximum delay between two attempts. Unit: s. Default: `60`. */
    readonly max_retry_delay?: number | null;
    /** `1`: batches are sent one after the other. `-1`: up to 32 at the same time. Default: `1`. */
    readonly concurrency_limit?: -1 | 1 | null;
  };
  /** Metrics that are sent for each request. */
  readonly metrics?: readonly {
    /** Name of the metric: a count, milliseconds (`latency`: the whole request; `upstream_latency`: until the backend answered; `kong_latency`: within the gateway), or bytes. */
    readonly name: 'kong_latency' | 'latency' | 'request_count' | 'request_size' | 'response_size' | 'upstream_latency';
    /** Statsd type of the metric. */
    readonly stat_type: 'counter' | 'gauge' | 'histogram' | 'meter' | 'set' | 'timer' | 'distribution';
    /** Additional tags, as `name:value` or `name`. */
    readonly tags?: readonly string[] | null;
    /** Fraction of requests that are reported, 0 to 1. Required for `counter` and `gauge`. Null: all. */
    readonly sample_rate?: number | null;
    /** Field that names the consumer in its tag. Null: no such tag. */
    readonly consumer_identifier?: 'consumer_id' | 'custom_id' | 'username' | null;
  }[];
}

export interface FileLogConfig {
  /** Path of the file. It is created if it does not exist; its folder must exist. A relative path is relative to the gateway's working directory. `/dev/stdout` and `/dev/stderr` are the gateway's own. */
  readonly path: string;
  /** Detects that the file was moved or removed, and continues in a new one. If off, a new file is opened only by `sluicegate reload` or SIGHUP. Default: `false`. */
  readonly reopen?: boolean;
  /** Fields to add to the record or to replace in it: a name and a template such as `$(headers.x_tenant)`. A dot in a name leads into an object (`request.headers.cookie`); `\.` is a literal dot. A field whose template renders empty is removed, so an empty template always removes it. Values are those of the record: secrets stay masked. */
  readonly custom_fields?: { readonly [name: string]: string } | null;
  /** The same with Kong's Lua expressions: `return kong.request.get_header('x-tenant') or 'none'`, or `return nil` to remove a field. No Lua is executed: strings, numbers, `or`, `..` and the getters of `kong.request`, `kong.response`, `kong.client`, `kong.router` and `kong.ctx.shared` are supported; everything else is rejected. */
  readonly custom_fields_by_lua?: { readonly [name: string]: string } | null;
}

export interface GrpcWebConfig {
  /** Path of the `.proto` file of the service, on the machine of the gateway. Needed for JSON only. Imported files are searched in its folder. */
  readonly proto?: string | null;
  /** Sends the path after the route's `strip_path`. If off, the backend receives the original path, which names the method. */
  readonly pass_stripped_path?: boolean | null;
  /** Value of `Access-Control-Allow-Origin` in all responses. Default: `*`. */
  readonly allow_origin_header?: string | null;
}

export interface HmacAuthConfig {
  /** Removes the header with the signature (`Authorization` or `Proxy-Authorization`) from the request to the backend. Default: `false`. */
  readonly hide_credentials?: boolean;
  /** Maximum difference between `Date` or `X-Date` and the gateway's clock. A request can be replayed for that long. Unit: s. Default: `300`. */
  readonly clock_skew?: number | null;
  /** Id or username of the consumer that requests without a valid signature continue as. Unset: they are rejected. */
  readonly anonymous?: string | null;
  /** Requires a `Digest` header (`SHA-256=`) that matches the body. Bodies of up to 8 MiB are read for it; larger ones are answered with 413. Default: `false`. */
  readonly validate_request_body?: boolean;
  /** Headers that clients must sign at least. */
  readonly enforce_headers?: readonly string[];
  /** Accepted signature algorithms. */
  readonly algorithms?: readonly ('hmac-sha1' | 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512')[] | null;
  /** Realm in the `WWW-Authenticate` header of rejections. */
  readonly realm?: string | null;
}

export interface HttpLogConfig {
  /** URL of the receiver, `http` or `https`. User and password in it are sent as Basic authentication. */
  readonly http_endpoint: string;
  /** Method of the requests to the receiver. Default: `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | null;
  /** `Content-Type` of the requests to the receiver. Default: `application/json`. */
  readonly content_type?: 'application/json' | 'application/json; charset=utf-8' | null;
  /** Timeout of each step: connecting, sending, the head of the response, and the rest of it. Unit: ms. Default: `10000`. */
  readonly timeout?: number | null;
  /** Time after which an idle connection is closed. 0: when the receiver closes it. Unit: ms. Default: `60000`. */
  readonly keepalive?: number | null;
  /** Deprecated and ignored: see `queue.max_retry_time`. */
  readonly retry_count?: number | null;
  /** Deprecated: overrides `queue.max_batch_size` when set. */
  readonly queue_size?: number | null;
  /** Deprecated: overrides `queue.max_coalescing_delay` when set. Unit: s. */
  readonly flush_timeout?: number | null;
  /** Additional headers of the requests, such as `Authorization`. Their values appear in no log. */
  readonly headers?: { readonly [name: string]: string } | null;
  /** How records are batched, kept and retried. Each worker has its own queue. */
  readonly queue?: {
    /** Maximum number of records in one batch. Default: `1`. */
    readonly max_batch_size?: number | null;
    /** Maximum time that records wait for the batch to fill up to `max_batch_size`. Unit: s. Default: `1`. */
    readonly max_coalescing_delay?: number | null;
    /** Maximum number of records that each worker keeps, including those being sent. Beyond it the oldest is dropped. Default: `10000`. */
    readonly max_entries?: number | null;
    /** Maximum size of the records that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB. Unit: bytes. */
    readonly max_bytes?: number | null;
    /** Time for which delivery of a batch is retried before it is dropped. Unit: s. Default: `60`. */
    readonly max_retry_time?: number | null;
    /** Delay before the first retry. It doubles with each further one. Unit: s. Default: `0.01`. */
    readonly initial_retry_delay?: number | null;
    /** Maximum delay between two attempts. Unit: s. Default: `60`. */
    readonly max_retry_delay?: number | null;
    /** `1`: batches are sent one after the other. `-1`: up to 32 at the same time. Default: `1`. */
    readonly concurrency_limit?: -1 | 1 | null;
  };
  /** Fields to add to the record or to replace in it: a name and a template such as `$(headers.x_tenant)`. A dot in a name leads into an object (`request.headers.cookie`); `\.` is a literal dot. A field whose template renders empty is removed, so an empty template always removes it. Values are those of the record: secrets stay masked. */
  readonly custom_fields?: { readonly [name: string]: string } | null;
  /** The same with Kong's Lua expressions: `return kong.request.get_header('x-tenant') or 'none'`, or `return nil` to remove a field. No Lua is executed: strings, numbers, `or`, `..` and the getters of `kong.request`, `kong.response`, `kong.client`, `kong.router` and `kong.ctx.shared` are supported; everything else is rejected. */
  readonly custom_fields_by_lua?: { readonly [name: string]: string } | null;
}

export interface IpRestrictionConfig {
  /** Allowed clients. If set, all others are rejected. */
  readonly allow?: readonly string[] | null;
  /** Rejected clients, even if `allow` names them. */
  readonly deny?: readonly string[] | null;
  /** Status code of a rejection. Default: 403. */
  readonly status?: number | null;
  /** Message of a rejection. Default: one that names the address. */
  readonly message?: string | null;
}

export interface JwtConfig {
  /** Query arguments that may hold the token. */
  readonly uri_param_names?: readonly string[] | null;
  /** Cookies that may hold the token. */
  readonly cookie_names?: readonly string[] | null;
  /** Claim that names the credential by its `key`, in the payload or else in the header. Default: `iss`. */
  readonly key_claim_name?: string | null;
  /** Secrets of credentials are the base64 or base64url encoding of the signing key. Default: `false`. */
  readonly secret_is_base64?: boolean;
  /** Time claims that a token must have and that must be valid. Tokens of `jwks_uri` are always checked for those present. */
  readonly claims_to_verify?: readonly ('exp' | 'nbf')[] | null;
  /** Id or username of the consumer that requests without a valid token continue as. Default: they are rejected. */
  readonly anonymous?: string | null;
  /** Requires a token of OPTIONS requests, too. Default: `true`. */
  readonly run_on_preflight?: boolean;
  /** Maximum time until a token expires. If set, a token without `exp` is rejected. 0: no limit. Unit: s. Default: `0`. */
  readonly maximum_expiration?: number | null;
  /** Headers that may hold the token, as `Bearer <token>`. */
  readonly header_names?: readonly string[] | null;
  /** Realm in the `WWW-Authenticate` header of rejections. */
  readonly realm?: string | null;
  /** Tolerated difference between the clocks of the issuer and the gateway. Unit: s. Default: `0`. */
  readonly leeway?: number;
  /** URL of the public keys of an issuer (a JWK set). Tokens are then verified with these keys instead of credentials. */
  readonly jwks_uri?: string | null;
  /** Algorithms that tokens of `jwks_uri` may be signed with. */
  readonly jwks_algorithms?: readonly (
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
  )[];
  /** Age at which the keys are fetched again in the background. Unit: s. Default: `3600`. */
  readonly jwks_ttl?: number;
  /** Minimum time between two fetches, even when a token names an unknown key. Unit: s. Default: `30`. */
  readonly jwks_cooldown?: number;
  /** Tokens of `jwks_uri` must have an `exp`. If off, a token without one is valid until its key is withdrawn. Default: `true`. */
  readonly jwks_require_exp?: boolean;
  /** Timeout of a fetch. Unit: ms. Default: `5000`. */
  readonly jwks_timeout?: number;
  /** Verifies the certificate of `jwks_uri`. Default: `true`. */
  readonly jwks_ssl_verify?: boolean;
  /** Trusted issuers (`iss`). Default: any. */
  readonly issuers?: readonly string[] | null;
  /** Accepted audiences (`aud`); a token must be for one of them. Default: any. */
  readonly audiences?: readonly string[] | null;
  /** With `jwks_uri`: claim that names the consumer. Default: tokens belong to no consumer. */
  readonly consumer_claim?: string | null;
  /** Field of the consumer that the claim is compared with. Default: `username`. */
  readonly consumer_by?: 'username' | 'custom_id' | 'id';
}

export interface KeyAuthConfig {
  /** Names to look for, in this order: each in the header, then the query, then the body. Header names are case-insensitive; other names are not. */
  readonly key_names?: readonly string[];
  /** Removes the key from the request to the backend: every name in `key_names` is removed wherever keys are searched. Default: `false`. */
  readonly hide_credentials?: boolean;
  /** Id or username of the consumer that requests without a valid key continue as. Unset: they are rejected. */
  readonly anonymous?: string | null;
  /** Searches headers for the key. Default: `true`. */
  readonly key_in_header?: boolean;
  /** Searches the query for the key. Default: `true`. */
  readonly key_in_query?: boolean;
  /** Searches bodies (form, multipart form or JSON) of up to 1 MiB for the key. Such bodies are read before they are forwarded. Default: `false`. */
  readonly key_in_body?: boolean;
  /** Requires a key of OPTIONS requests, too. Default: `true`. */
  readonly run_on_preflight?: boolean;
  /** Realm in the `WWW-Authenticate` header of rejections. */
  readonly realm?: string | null;
}

export interface LdapAuthConfig {
  /** Host name or IP address of the LDAP server. */
  readonly ldap_host: string;
  /** Port of the LDAP server; usually 636 with `ldaps`. Default: `389`. */
  readonly ldap_port?: number;
  /** Uses TLS from the first byte of the connection. Default: `false`. */
  readonly ldaps?: boolean;
  /** Switches the connection to TLS (StartTLS) before anything else is sent. Default: `false`. */
  readonly start_tls?: boolean;
  /** With TLS: verifies that the certificate of the server is valid for `ldap_host`, with the authorities of `lua_ssl_trusted_certificate`. If off, anyone on the network path can read the passwords. Default: `false`. */
  readonly verify_ldap_host?: boolean;
  /** Base DN of the users: `ou=people,dc=example,dc=com`. */
  readonly base_dn: string;
  /** Attribute that holds the user name: `uid`, `cn`. */
  readonly attribute: string;
  /** Time that a verified login is cached. 0: each request is checked. Unit: s. Default: `60`. */
  readonly cache_ttl?: number;
  /** Removes the headers `Authorization` and `Proxy-Authorization` from the request to the backend. Default: `false`. */
  readonly hide_credentials?: boolean;
  /** Timeout of one login: connecting, TLS, waiting for a free connection, and the response. Unit: ms. Default: `10000`. */
  readonly timeout?: number | null;
  /** Time that an idle connection to the server is kept for the next login. 0: none is kept. Unit: ms. Default: `60000`. */
  readonly keepalive?: number | null;
  /** Id or username of the consumer that requests without a valid login continue as. Unset: they are rejected. */
  readonly anonymous?: string | null;
  /** Scheme of the credentials: `ldap`, or `basic` for what browsers send. Case-insensitive. Default: `ldap`. */
  readonly header_type?: string | null;
  /** Realm in the `WWW-Authenticate` header of rejections. */
  readonly realm?: string | null;
}

export interface MtlsAuthConfig {
  /** Id or username of the consumer that requests without a valid certificate continue as. Unset: they are rejected. */
  readonly anonymous?: string | null;
  /** Fields of the consumer that are compared with the names in the certificate, if no credential has the name. */
  readonly consumer_by?: readonly ('username' | 'custom_id')[] | null;
  /** Accepted authorities: ids of entities under `/ca_certificates`. */
  readonly ca_certificates: readonly string[];
  /** Accepted for compatibility and ignored. Consumers and credentials are cached until they change. Unit: s. Default: `60`. */
  readonly cache_ttl?: number | null;
  /** Accepts every valid certificate without a consumer. The backend receives `X-Client-Cert-Dn` and `X-Client-Cert-San`. Default: `false`. */
  readonly skip_consumer_lookup?: boolean;
  /** Trusts an authority in `ca_certificates` even if it is not self-signed and its own issuer is missing. Default: `false`. */
  readonly allow_partial_chain?: boolean;
  /** With `skip_consumer_lookup`: the authenticated group for `acl` is the common name (`CN`) or the whole subject (`DN`). Default: `CN`. */
  readonly authenticated_group_by?: 'CN' | 'DN' | null;
  /** `SKIP`: no check. `IGNORE_CA_ERROR`: a revoked certificate is rejected; one without an available list is accepted. `STRICT`: that one is rejected, too. Default: `IGNORE_CA_ERROR`. */
  readonly revocation_check_mode?: 'SKIP' | 'IGNORE_CA_ERROR' | 'STRICT' | null;
  /** Timeout of fetching a revocation list. Unit: ms. Default: `30000`. */
  readonly http_timeout?: number | null;
  /** Time that the outcome of a check is cached, and interval at which the gateway looks for a newer revocation list. Unit: ms. Default: `60000`. */
  readonly cert_cache_ttl?: number | null;
  /** Id or username of the consumer for valid certificates without a consumer. Unset: they are rejected. */
  readonly default_consumer?: string | null;
  /** Certificate revocation lists, in addition to the distribution points of certificates: PEM text, an `http(s)` URL, or an absolute path of a PEM or DER file. */
  readonly crls?: readonly string[] | null;
}

export interface Oauth2Config {
  /** Scopes that clients may request. Unset: requested scopes are ignored. */
  readonly scopes?: readonly string[] | null;
  /** Requires clients to request at least one scope. Needs `scopes`. Default: `false`. */
  readonly mandatory_scope?: boolean;
  /** Secret shared with your login page. It proves that the page, not a client, says who the user is. */
  readonly provision_key?: string;
  /** Lifetime of an access token. 0: it does not expire, and there is no refresh token. Unit: s. Default: `7200`. */
  readonly token_expiration?: number;
  /** Authorization code grant (RFC 6749 4.1). Default: `false`. */
  readonly enable_authorization_code?: boolean;
  /** Implicit grant (RFC 6749 4.2). Tokens end up in URLs: prefer the authorization code with PKCE. Default: `false`. */
  readonly enable_implicit_grant?: boolean;
  /** Client credentials grant (RFC 6749 4.4). Default: `false`. */
  readonly enable_client_credentials?: boolean;
  /** Resource owner password grant (RFC 6749 4.3), for old clients of your own. Default: `false`. */
  readonly enable_password_grant?: boolean;
  /** Removes the access token from the request to the backend: from header and query, and from the form if it was searched. Default: `false`. */
  readonly hide_credentials?: boolean;
  /** Accepts `X-Forwarded-Proto: https` of a trusted proxy as TLS. Default: `false`. */
  readonly accept_http_if_already_terminated?: boolean;
  /** Id or username of the consumer that requests without a valid token continue as. Unset: they are rejected. */
  readonly anonymous?: string | null;
  /** Tokens are valid at every service whose plugin has this option, not only at one service. Default: `false`. */
  readonly global_credentials?: boolean;
  /** Header with the access token. Default: `authorization`. */
  readonly auth_header_name?: string;
  /** Lifetime of a refresh token. 0: it does not expire. Unit: s. Default: `1209600`. */
  readonly refresh_token_ttl?: number;
  /** A refresh token stays valid when it is used, with a new lifetime. If off, each use returns a new one. Default: `false`. */
  readonly reuse_refresh_token?: boolean;
  /** Which clients must protect authorization codes with PKCE (RFC 7636): none, public clients, or all (with `S256`). A code with a challenge always needs its verifier. Default: `lax`. */
  readonly pkce?: 'none' | 'lax' | 'strict' | null;
  /** Realm in the `WWW-Authenticate` header of rejections. */
  readonly realm?: string | null;
}

export interface Oauth2IntrospectionConfig {
  /** URL of the authorization server's introspection endpoint. */
  readonly introspection_url: string;
  /** `Authorization` header with which the gateway authenticates at that server: `Basic ...`, `Bearer ...`. */
  readonly authorization_value?: string | null;
  /** Client id of the gateway at that server (HTTP Basic), instead of `authorization_value`. */
  readonly client_id?: string | null;
  /** Client secret of the gateway. */
  readonly client_secret?: string | null;
  /** `token_type_hint` of the introspection request: `access_token`. */
  readonly token_type_hint?: string | null;
  /** Time that an active token is cached, never beyond its `exp`. 0: each request is checked. Unit: s. Default: `30`. */
  readonly ttl?: number;
  /** Time that a rejected token is cached; `ttl` if that is less. Unit: s. Default: `5`. */
  readonly negative_ttl?: number;
  /** Timeout of one introspection request, including connecting. Unit: ms. Default: `10000`. */
  readonly timeout?: number;
  /** Verifies the certificate of the server. If off, anyone on the network path can make any token valid. Default: `true`. */
  readonly ssl_verify?: boolean;
  /** Adds the headers `X-Request-Path` and `X-Request-Http-Method` to the introspection request. Responses are then cached for that path and method only. Default: `false`. */
  readonly introspect_request?: boolean;
  /** Additional headers of the introspection request. */
  readonly custom_introspection_headers?: { readonly [name: string]: string };
  /** The token must have all scopes of one of these entries. Otherwise the response is 403. */
  readonly scopes_required?: readonly string[] | null;
  /** Accepted audiences; the `aud` of the token must have one of them. */
  readonly audience_required?: readonly string[] | null;
  /** Claim that identifies the consumer: `username` is compared with the username, `client_id` with custom_id and then the username. Default: `username`. */
  readonly consumer_by?: 'username' | 'client_id';
  /** Accepts valid tokens whose consumer does not exist. If off, the response is 403. Default: `true`. */
  readonly consumer_optional?: boolean;
  /** Additional claims that the backend receives, in headers such as `X-Credential-Email` for `email`. */
  readonly custom_claims_forward?: readonly string[];
  /** Removes the token from the request to the backend. Default: `false`. */
  readonly hide_credentials?: boolean;
  /** Requires a token of OPTIONS requests, too. Default: `true`. */
  readonly run_on_preflight?: boolean;
  /** Realm in the `WWW-Authenticate` header of rejections. */
  readonly realm?: string | null;
  /** Id or username of the consumer that requests without a valid token continue as. Unset: they are rejected. */
  readonly anonymous?: string | null;
}

export interface OpenapiConfig {
  /** The OpenAPI document (3.0 or 3.1) as text, JSON or YAML. */
  readonly document?: string | null;
  /** Path of a file with the document, on every node. It is read when the plugin is configured and when the gateway starts. */
  readonly file?: string | null;
  /** Prefix of the document's paths in requests of clients. Null: the paths of its `servers`. `/`: none. */
  readonly base_path?: string | null;
  /** `enforce`: rejects invalid requests. `report`: lets them pass, and counts and logs them. `off`: does not validate requests. Default: `enforce`. */
  readonly mode?: 'enforce' | 'report' | 'off';
  /** `off`: responses are not validated. `report`: a copy is validated while the response is streamed. `enforce`: responses are buffered, and an invalid one is replaced by 502. Default: `off`. */
  readonly response_mode?: 'off' | 'report' | 'enforce';
  /** What happens to query arguments that the operation does not declare. Default: `allow`. */
  readonly undeclared_query?: 'allow' | 'refuse';
  /** Answers from the examples of the document, without a backend. Such responses have `X-Mock-Response: true`. Default: `false`. */
  readonly mock?: boolean;
  /** Maximum size of a request body (413 beyond), and of a response that is validated. Larger responses pass unvalidated, or are replaced by 502 if `response_mode` is `enforce`. Unit: bytes. Default: `1048576`. */
  readonly max_body_size?: number;
  /** Maximum number of errors in a response. Default: `10`. */
  readonly max_errors?: number;
  /** Responses list the errors. If off, they only say that the request is not valid. Default: `true`. */
  readonly verbose?: boolean;
}

export interface OpenidConnectConfig {
  /** The provider: its issuer, or the URL of its `.well-known/openid-configuration`. */
  readonly issuer?: string;
  /** Allows plain HTTP to the provider. Otherwise only to a loopback address. Default: `false`. */
  readonly allow_http?: boolean;
  /** Client id of the gateway at the provider. Needed for `authorization_code`. */
  readonly client_id?: readonly string[] | null;
  /** Client secret; unset for a public client. */
  readonly client_secret?: readonly string[] | null;
  /** How the client sends its secret. Unset: `client_secret_basic`, or `client_secret_post` if the provider supports only that. */
  readonly token_endpoint_auth_method?: 'client_secret_basic' | 'client_secret_post' | 'none' | null;
  /** Where the provider redirects browsers to: a URL of the gateway that is routed to this plugin. Needed for `authorization_code`. */
  readonly redirect_uri?: readonly string[] | null;
  /** `bearer`: access tokens that are JWTs. `authorization_code`: browsers are sent to the provider to log in. `session`: the cookie of such a login; included in `authorization_code`. */
  readonly auth_methods?: readonly ('bearer' | 'session' | 'authorization_code')[];
  /** Scopes that a login requests. `openid` is always included; `offline_access` usually returns refresh tokens. */
  readonly scopes?: readonly string[];
  /** Names of additional arguments of the login request. */
  readonly authorization_query_args_names?: readonly string[] | null;
  /** Values of these arguments, in the same order. */
  readonly authorization_query_args_values?: readonly string[] | null;
  /** Accepted values of `iss` in bearer tokens. Unset: the provider's issuer. */
  readonly issuers_allowed?: readonly string[] | null;
  /** The audience of a bearer token must be one of these. Without it, tokens for other services are accepted. */
  readonly audience_required?: readonly string[] | null;
  /** Claim with the audience. Several names are the path to a nested claim. */
  readonly audience_claim?: readonly string[];
  /** The token must have all scopes of one of these lines; otherwise the status is 403. */
  readonly scopes_required?: readonly string[] | null;
  /** Claim with the scopes of a bearer token. Several names are the path to a nested claim. */
  readonly scopes_claim?: readonly string[];
  /** Bearer tokens must be of the type `at+jwt` (RFC 9068). Without it, `JWT` is accepted, too, which many providers use. Default: `false`. */
  readonly at_jwt_required?: boolean;
  /** Accepted signature algorithms. */
  readonly algorithms?: readonly (
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
    | 'Ed25519'
  )[];
  /** Maximum difference to the clock of the provider. Unit: s. Default: `0`. */
  readonly leeway?: number;
  /** Claim that identifies the consumer. Several names are the path to a nested claim. Unset: there is no consumer. */
  readonly consumer_claim?: readonly string[] | null;
  /** Fields of the consumer that the claim is compared with, in this order. */
  readonly consumer_by?: readonly ('id' | 'username' | 'custom_id')[];
  /** Accepts clients without a consumer. Off: the status is 403. Default: `false`. */
  readonly consumer_optional?: boolean;
  /** Claim for `X-Credential-Identifier`. Several names are the path to a nested claim. */
  readonly credential_claim?: readonly string[];
  /** The claim with the groups that `acl` and `authorization` use. Several names are the path to a nested claim. */
  readonly authenticated_groups_claim?: readonly string[] | null;
  /** Header in which the backend receives the access token; `:bearer` adds the scheme `Bearer`. null: none. Default: `authorization:bearer`. */
  readonly upstream_access_token_header?: string | null;
  /** Claims that the backend receives in headers. */
  readonly upstream_headers_claims?: readonly string[] | null;
  /** Names of these headers, in the same order. */
  readonly upstream_headers_names?: readonly string[] | null;
  /** The backend receives no token. Default: `false`. */
  readonly hide_credentials?: boolean;
  /** Cookies are encrypted with it. Anyone who knows it can create sessions. Changing it ends all sessions. */
  readonly session_secret?: string;
  /** A name for the application. Sessions of another audience are not accepted. Default: `default`. */
  readonly session_audience?: string;
  /** Name of the session cookie. Default: `session`. */
  readonly session_cookie_name?: string;
  /** Path of the cookies. Default: `/`. */
  readonly session_cookie_path?: string;
  /** Domain of the cookies. Unset: only the host that set them. */
  readonly session_cookie_domain?: string | null;
  /** Whether requests from other sites carry the session cookie. Default: `Lax`. */
  readonly session_cookie_same_site?: 'Strict' | 'Lax' | 'None';
  /** Scripts cannot read the session cookie. Default: `true`. */
  readonly session_cookie_http_only?: boolean;
  /** The cookies are sent over TLS only. Unset: if `redirect_uri` is https. */
  readonly session_cookie_secure?: boolean | null;
  /** Maximum time from the login to the end of the session. Unit: s. Default: `86400`. */
  readonly session_absolute_timeout?: number;
  /** A session ends after this time without use. 0: never. Unit: s. Default: `900`. */
  readonly session_idling_timeout?: number;
  /** Name of the cookie that binds a login to the browser that started it. Default: `authorization`. */
  readonly authorization_cookie_name?: string;
  /** Maximum duration of a login. Unit: s. Default: `600`. */
  readonly authorization_cookie_lifetime?: number;
  /** Where browsers are redirected after a login. Unset: to the page that they requested. */
  readonly login_redirect_uri?: readonly string[] | null;
  /** Only GET requests of browsers for a page are redirected to the provider; others get 401. Off: all GET requests are redirected. Default: `true`. */
  readonly login_for_browsers_only?: boolean;
  /** Path of the request that ends the session. */
  readonly logout_path?: string | null;
  /** Methods of logout requests. With GET, a link on another site can log users out. */
  readonly logout_methods?: readonly ('GET' | 'POST' | 'DELETE')[];
  /** Where browsers are redirected after a logout; must be registered with the provider. */
  readonly logout_redirect_uri?: readonly string[] | null;
  /** Minimum time between requests for the keys of the provider when a token has an unknown key. Unit: s. Default: `30`. */
  readonly rediscovery_lifetime?: number;
  /** Interval at which the configuration and the keys of the provider are loaded again, in the background. Unit: s. Default: `3600`. */
  readonly cache_ttl?: number;
  /** Timeout of each request to the provider. Unit: ms. Default: `10000`. */
  readonly timeout?: number;
  /** Verifies the provider's certificate. Without this, an attacker in between can forge tokens. Default: `true`. */
  readonly ssl_verify?: boolean;
  /** OPTIONS requests must be authenticated, too. Default: `true`. */
  readonly run_on_preflight?: boolean;
  /** Realm in `WWW-Authenticate` of refusals. */
  readonly realm?: string | null;
  /** Id or username of the consumer for requests without authentication. Unset: they are refused. */
  readonly anonymous?: string | null;
  /** Accepted for compatibility with Kong and ignored: tokens are cached by their hash, in the memory of each worker. */
  readonly cache_tokens_salt?: string | null;
  /** Accepted for compatibility with Kong and ignored: only the result of verifying a token is cached. Default: `true`. */
  readonly cache_tokens?: boolean | null;
  /** Signatures are always verified. Default: `true`. */
  readonly verify_signature?: boolean | null;
  /** Claims are always verified. Default: `true`. */
  readonly verify_claims?: boolean | null;
  /** The nonce of a login is always verified. Default: `true`. */
  readonly verify_nonce?: boolean | null;
  /** How the provider returns the code. Default: `query`. */
  readonly response_mode?: 'query' | null;
  /** Response type that a login requests. */
  readonly response_type?: readonly 'code'[] | null;
  /** Action after a login: a redirect, so that the backend never sees the code. Default: `redirect`. */
  readonly login_action?: 'redirect' | null;
  /** Where the session is stored. Default: `cookie`. */
  readonly session_storage?: 'cookie' | null;
  readonly client_auth?: readonly ('client_secret_basic' | 'client_secret_post' | 'none')[] | null;
  readonly authorization_rolling_timeout?: number | null;
  readonly session_cookie_idletime?: number | null;
  readonly session_cookie_httponly?: boolean | null;
  readonly session_cookie_samesite?: 'Strict' | 'Lax' | 'None' | 'off' | null;
  readonly session_cookie_renew?: number | null;
  readonly session_cookie_maxsize?: number | null;
  readonly session_strategy?: string | null;
  readonly session_compressor?: string | null;
}

export interface OpentelemetryConfig {
  /** Full URL that spans are sent to, as OTLP over HTTP with protocol buffers: `http://collector:4318/v1/traces`. Null: trace headers are propagated, and no spans are sent. */
  readonly traces_endpoint?: string | null;
  /** Full URL that log records of requests are sent to: `http://collector:4318/v1/logs`. Null: none are sent. */
  readonly logs_endpoint?: string | null;
  /** Metrics that are pushed to a receiver. */
  readonly metrics?: {
    /** Full URL that metrics are sent to, as OTLP over HTTP with protocol buffers: `http://collector:4318/v1/metrics`. Null: none are sent. */
    readonly endpoint?: string | null;
    /** Interval between two pushes. Unit: s. Default: `60`. */
    readonly push_interval?: number;
    /** Sends all metrics of `GET /metrics` of this node. One instance per endpoint is enough. Default: `true`. */
    readonly node_metrics?: boolean;
    /** Records and sends `http.server.request.duration` and `http.client.request.duration` for requests in the scope of this instance. Default: `true`. */
    readonly request_metrics?: boolean;
  };
  /** Additional headers of everything that is sent, such as a key of the receiver. Their values appear in no log. */
  readonly headers?: { readonly [name: string]: string } | null;
  /** Attributes of the resource. They extend or override `service.name` (`kong`), `service.instance.id` and `service.version`. */
  readonly resource_attributes?: { readonly [name: string]: string } | null;
  /** How entries are batched, kept and retried. Each worker has its own queue. */
  readonly queue?: {
    /** Maximum number of entries in one batch. Default: `200`. */
    readonly max_batch_size?: number | null;
    /** Maximum time that entries wait for the batch to fill up to `max_batch_size`. Unit: s. Default: `1`. */
    readonly max_coalescing_delay?: number | null;
    /** Maximum number of entries that each worker keeps, including those being sent. Beyond it the oldest is dropped. Default: `10000`. */
    readonly max_entries?: number | null;
    /** Maximum size of the entries that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB. Unit: bytes. */
    readonly max_bytes?: number | null;
    /** Time for which delivery of a batch is retried before it is dropped. Unit: s. Default: `60`. */
    readonly max_retry_time?: number | null;
    /** Delay before the first retry. It doubles with each further one. Unit: s. Default: `0.01`. */
    readonly initial_retry_delay?: number | null;
    /** Maximum delay between two attempts. Unit: s. Default: `60`. */
    readonly max_retry_delay?: number | null;
    /** `1`: batches are sent one after the other. `-1`: up to 32 at the same time. Default: `1`. */
    readonly concurrency_limit?: -1 | 1 | null;
  };
  /** Deprecated: overrides `queue.max_batch_size` when set. */
  readonly batch_span_count?: number | null;
  /** Deprecated: overrides `queue.max_coalescing_delay` when set. Unit: s. */
  readonly batch_flush_delay?: number | null;
  /** Timeout of connecting to a receiver. Unit: ms. Default: `1000`. */
  readonly connect_timeout?: number | null;
  /** Timeout of sending a message. Unit: ms. Default: `5000`. */
  readonly send_timeout?: number | null;
  /** Timeout of waiting for the response. Unit: ms. Default: `5000`. */
  readonly read_timeout?: number | null;
  /** Header of the response with the trace id, in hexadecimal. Null: none. */
  readonly http_response_header_for_traceid?: string | null;
  /** Which trace headers are used. `preserve`: continues the trace of the client, in whichever format it comes, and sends the backend the same format. `ignore`: ignores the client's headers. The name of a format: as `preserve`, and the backend always receives this format. Ignored once `propagation` has one of its lists. Default: `preserve`. */
  readonly header_type?:
    | 'preserve'
    | 'ignore'
    | 'w3c'
    | 'b3'
    | 'b3-single'
    | 'jaeger'
    | 'ot'
    | 'datadog'
    | 'aws'
    | 'gcp';
  /** Fraction of requests that are traced, 0 to 1. Null: the setting `tracing_sampling_rate`. */
  readonly sampling_rate?: number | null;
  /** How the client's decision and the rate are combined. `parent_probability_fallback`: the client's decision counts; without one the rate decides. `parent_drop_probability_fallback`: requests that the client does not trace are not traced; for the rest the rate decides. `probability`: the rate alone decides. Default: `parent_probability_fallback`. */
  readonly sampling_strategy?: 'parent_probability_fallback' | 'parent_drop_probability_fallback' | 'probability';
  /** Which trace headers are read and written. Overrides `header_type` once it has one of the three lists. */
  readonly propagation?: {
    /** Formats in which the client's trace headers are read; the first that is present counts. `b3` means both of its formats. Null, if another list is set: none. */
    readonly extract?: readonly ('w3c' | 'b3' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp')[] | null;
    /** Headers of the client that are not forwarded to the backend. */
    readonly clear?: readonly string[] | null;
    /** Formats of the headers that the backend receives. `preserve`: the format in which the trace came. Null, if another list is set: none. */
    readonly inject?:
      | readonly ('preserve' | 'w3c' | 'b3' | 'b3-single' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp')[]
      | null;
    /** Format for `preserve` if the client sent no trace headers. Default: `w3c`. */
    readonly default_format?: 'w3c' | 'b3' | 'b3-single' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp';
  };
  /** @deprecated Use `traces_endpoint`. */
  readonly endpoint?: string | null;
}

export interface PaginationConfig {
  /** How the backend pages, and the form of its responses. */
  readonly backend: {
    /** Style of the backend. */
    readonly style: 'page' | 'offset' | 'cursor' | 'before';
    /** Argument of the backend for the number of items per page. Default: `limit`. */
    readonly limit_name?: string;
    /** Style `page`: argument of the backend for the number of the page. Default: `page`. */
    readonly page_name?: string;
    /** Style `offset`: argument of the backend for the number of items to skip. Default: `offset`. */
    readonly offset_name?: string;
    /** Style `cursor`: argument of the backend for the cursor. Default: `cursor`. */
    readonly cursor_name?: string;
    /** Style `before`: argument of the backend for the key of the previous page's last item. Default: `before`. */
    readonly before_name?: string;
    /** Style `page`: the number of the first page. Default: `1`. */
    readonly first_page?: number;
    /** Maximum number of items that the backend returns per page. Null: `max_limit`. */
    readonly max_limit?: number | null;
    /** Place of the list in its response, a JSONPath (RFC 9535) to one place: `$.data.users`; `$` if the response is the list. A name alone is that member of the response. Default: `data`. */
    readonly items?: string;
    /** Style `cursor`: place of the next cursor in its response, as in `items`. Missing, null or empty: there are no more pages. Default: `nextCursor`. */
    readonly next_cursor?: string;
    /** Style `before`: place of the key in an item: `$.createdAt`. It must be unique. Default: `createdAt`. */
    readonly key?: string;
    /** Place of the total number of items in its response: `$.meta.total`. */
    readonly total?: string | null;
    /** Header with the total number of items: `X-Total-Count`. */
    readonly total_header?: string | null;
    /** Place of a boolean in its response that says whether there are more items. */
    readonly has_more?: string | null;
  };
  /** What clients send, and the form of responses for them. */
  readonly client?: {
    /** Argument of clients for the number of items per page; `size`, `per_page`. Default: `limit`. */
    readonly limit_name?: string;
    /** Style `page`: argument of clients for the number of the page. Default: `page`. */
    readonly page_name?: string;
    /** Style `offset`: argument of clients for the number of items to skip. Default: `offset`. */
    readonly offset_name?: string;
    /** Style `cursor`: argument of clients for the cursor. Default: `cursor`. */
    readonly cursor_name?: string;
    /** Style `before`: argument of clients for the key of the previous page's last item. Default: `before`. */
    readonly before_name?: string;
    /** Style `page`: the number of the first page. Default: `1`. */
    readonly first_page?: number;
    /** Place of the list in responses for clients, a JSONPath (RFC 9535) to one place; `$`: the response is the list. Null: as in the backend's response. */
    readonly items?: string | null;
    /** Place of the next cursor in responses for clients; null on the last page. Null: only in `Link`. Default: `nextCursor`. */
    readonly next_cursor?: string | null;
    /** Place of the total number of items in responses for clients, if the backend sends it. Null: as in the backend's response. */
    readonly total?: string | null;
  };
  /** Styles that clients may use. A request without paging arguments gets links in the first one. */
  readonly clients?: readonly ('page' | 'offset' | 'cursor' | 'before')[];
  /** Those of `clients` that the backend can serve only by requesting everything before (`page` and `offset` over `cursor` and `before`). Naming them here allows it; see the table in the README. */
  readonly approximate?: readonly ('page' | 'offset' | 'cursor' | 'before')[];
  /** Maximum number of backend requests for one such page. A page further on is answered with 400. Default: `10`. */
  readonly max_walk_calls?: number;
  /** Items per page if the request does not say. Default: `20`. */
  readonly default_limit?: number;
  /** Maximum number of items per page for clients. Default: `100`. */
  readonly max_limit?: number;
  /** What happens to a larger limit: `refuse`: 400. `clamp`: it is reduced to the maximum. Default: `refuse`. */
  readonly above_max?: 'refuse' | 'clamp';
  /** Adds `Link` headers (RFC 8288): next, and first, prev and last if they are known. Default: `true`. */
  readonly links?: boolean;
  /** Lifetime of a cursor. 0: it does not expire. Unit: s. Default: `0`. */
  readonly cursor_ttl?: number;
  /** Secret that encrypts cursors; a change invalidates all of them. Null: a random one of each node, until it stops. Set it if there are several nodes, to 16 characters or more. */
  readonly secret?: string;
  /** Maximum size of a backend's response in bytes, after decoding. A larger one is answered with 502. Default: `1048576`. */
  readonly max_body_bytes?: number;
}

export interface PostFunctionConfig {
  /** Functions for TLS handshakes; global instances only, and only with `untrusted_lua = on`. */
  readonly certificate?: readonly string[];
  /** Functions that run before routing; global instances only. */
  readonly rewrite?: readonly string[];
  /** Functions that run after routing, before a backend is contacted. */
  readonly access?: readonly string[];
  /** Functions that change the head of the response. */
  readonly header_filter?: readonly string[];
  /** Functions that change the body of the response, called for each piece of it. */
  readonly body_filter?: readonly string[];
  /** Functions that run after the response was sent. */
  readonly log?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_handshake?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_client_frame?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_upstream_frame?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_close?: readonly string[];
}

export interface PreFunctionConfig {
  /** Functions for TLS handshakes; global instances only, and only with `untrusted_lua = on`. */
  readonly certificate?: readonly string[];
  /** Functions that run before routing; global instances only. */
  readonly rewrite?: readonly string[];
  /** Functions that run after routing, before a backend is contacted. */
  readonly access?: readonly string[];
  /** Functions that change the head of the response. */
  readonly header_filter?: readonly string[];
  /** Functions that change the body of the response, called for each piece of it. */
  readonly body_filter?: readonly string[];
  /** Functions that run after the response was sent. */
  readonly log?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_handshake?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_client_frame?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_upstream_frame?: readonly string[];
  /** Must be empty: functions for WebSocket frames do not exist here. */
  readonly ws_close?: readonly string[];
}

export interface PrometheusConfig {
  /** Sets the label `consumer` of requests and bytes to the username. If off, the label is empty. Each consumer multiplies the series. Default: `false`. */
  readonly per_consumer?: boolean | null;
  /** Counts requests by service, route, status and source: `kong_http_requests_total`, `kong_stream_sessions_total`. Default: `false`. */
  readonly status_code_metrics?: boolean | null;
  /** Accepted for compatibility with Kong and ignored: there are no such metrics. Default: `false`. */
  readonly ai_metrics?: boolean | null;
  /** Histograms of times by service and route: `kong_kong_latency_ms`, `kong_upstream_latency_ms`, `kong_request_latency_ms`, `kong_session_duration_ms`. Default: `false`. */
  readonly latency_metrics?: boolean | null;
  /** Counts bytes by service, route and direction: `kong_bandwidth_bytes`. Default: `false`. */
  readonly bandwidth_metrics?: boolean | null;
  /** State of each address of each target of all upstreams: `kong_upstream_target_health`. Default: `false`. */
  readonly upstream_health_metrics?: boolean | null;
  /** Maximum number of series of each kind (requests, times, bytes). Further ones are counted under the label `overflow`. Instances with the same number share the space. A change begins at 0. Default: `30000`. */
  readonly max_series?: number;
}

export interface ProxyCacheConfig {
  /** Statuses of responses that are cached. 206 and 304 never are. */
  readonly response_code?: readonly number[];
  /** Methods of requests that are answered from the cache. `HEAD` uses the cached response to `GET`. For other methods the request body is part of the key. */
  readonly request_method?: readonly ('HEAD' | 'GET' | 'POST' | 'PATCH' | 'PUT')[];
  /** Media types of responses that are cached. Parameters must be equal: `application/json` does not match `application/json; charset=utf-8`. `*` matches any type or subtype, with any parameters: `text/*`, `*​/*`. */
  readonly content_type?: readonly string[];
  /** How long a response is fresh. With `cache_control` the response itself decides. Also accepts `5m` or `2h`. Unit: s. Default: `300`. */
  readonly cache_ttl?: number | null;
  /** Where responses are stored: in memory that the workers of a node share, or in Redis, for all nodes. */
  readonly strategy: 'memory' | 'redis';
  /** Applies `Cache-Control`, `Expires` and `Age` of requests and responses (RFC 9111). Default: `false`. */
  readonly cache_control?: boolean;
  /** Ignores upper and lower case in paths and queries. Default: `false`. */
  readonly ignore_uri_case?: boolean | null;
  /** How long a response is stored, fresh or not. Default: as long as it is fresh or may be used stale; with an `ETag` or `Last-Modified` for its fresh time again, so that it can be validated. Unit: s. */
  readonly storage_ttl?: number | null;
  /** Settings of the strategy `memory`. */
  readonly memory?: {
    /** Name of the memory. Instances with the same name and size share it. Default: `kong_db_cache`. */
    readonly dictionary_name?: string;
    /** Size of the memory. When it is full, responses that were not requested recently are evicted. Default: `64m`. */
    readonly size?: string;
  };
  /** Only these query arguments are part of the key. Default: all. */
  readonly vary_query_params?: readonly string[] | null;
  /** Request headers that are part of the key. Those that the response names in `Vary` always are, and `Accept-Encoding` if the response has a `Content-Encoding`. */
  readonly vary_headers?: readonly string[] | null;
  /** Headers that the cache adds to responses. */
  readonly response_headers?: {
    /** Sends `Age` in responses from the cache. Default: `true`. */
    readonly age?: boolean | null;
    /** Sends `X-Cache-Status`: `Miss`, `Hit`, `Refresh` or `Bypass`. Default: `true`. */
    readonly 'X-Cache-Status'?: boolean | null;
    /** Sends `X-Cache-Key`: the key for the Admin API. Default: `true`. */
    readonly 'X-Cache-Key'?: boolean | null;
  };
  /** The Redis server: `host`, or Sentinels, or a cluster. */
  readonly redis?: {
    /** Host name or IP address of the server. Not used with Sentinel or a cluster. */
    readonly host?: string | null;
    /** Port of the server. Default: `6379`. */
    readonly port?: number | null;
    /** Timeout of connecting, and of each command. Unit: ms. Default: `2000`. */
    readonly timeout?: number | null;
    /** User name (ACL); needs Redis 6 or later. */
    readonly username?: string | null;
    /** Password of the server or the user. */
    readonly password?: string | null;
    /** Number of the database. A cluster has only 0. Default: `0`. */
    readonly database?: number | null;
    /** Connects with TLS, also to Sentinels and the nodes of a cluster. Default: `false`. */
    readonly ssl?: boolean | null;
    /** Verifies the server's certificate, with the authorities of `lua_ssl_trusted_certificate`, or the well-known ones without that setting. Default: `false`. */
    readonly ssl_verify?: boolean | null;
    /** Server name (SNI) in the TLS handshake, and the name that is verified. Default: the host. */
    readonly server_name?: string | null;
    /** Timeout of connecting. Default: `timeout`. Unit: ms. */
    readonly connect_timeout?: number | null;
    /** Timeout of each command: the longer of `send_timeout` and `read_timeout`. Default of both: `timeout`. Unit: ms. */
    readonly send_timeout?: number | null;
    /** See `send_timeout`. Unit: ms. */
    readonly read_timeout?: number | null;
    /** With Sentinel: name of the master. */
    readonly sentinel_master?: string | null;
    /** With Sentinel: `master` or `any`, which both mean the master. `slave` is refused. */
    readonly sentinel_role?: 'master' | 'slave' | 'any' | null;
    /** The Sentinels. One that answers is enough. */
    readonly sentinel_nodes?:
      | readonly {
          /** Host name or IP address. Default: `127.0.0.1`. */
          readonly host?: string;
          /** Port. Default: `6379`. */
          readonly port?: number;
        }[]
      | null;
    /** User name (ACL) of the Sentinels. */
    readonly sentinel_username?: string | null;
    /** Password of the Sentinels. */
    readonly sentinel_password?: string | null;
    /** Nodes of a Redis Cluster. One that answers is enough: it names the others. */
    readonly cluster_nodes?:
      | readonly {
          /** Host name or IP address. Default: `127.0.0.1`. */
          readonly ip?: string;
          /** Port. Default: `6379`. */
          readonly port?: number;
        }[]
      | null;
    /** With a cluster: how many redirections one command follows. Default: `5`. */
    readonly cluster_max_redirections?: number | null;
  };
  /** Of several requests for the same response that is not cached, one goes to the backend and the others wait for it. Default: `true`. */
  readonly coalescing?: boolean;
  /** How long a request waits for another one before it goes to the backend itself. Unit: s. Default: `5`. */
  readonly coalescing_wait?: number;
  /** How long a stale response is served while it is fetched again. A response can override this in `Cache-Control`. Unit: s. Default: `0`. */
  readonly stale_while_revalidate?: number;
  /** How long a stale response is served when the backend fails or answers 500, 502, 503 or 504. A response can override this in `Cache-Control`. Unit: s. Default: `0`. */
  readonly stale_if_error?: number;
  /** Responses with larger bodies are not cached. The limit also applies to request bodies that are part of the key. Default: `1m`. */
  readonly max_body?: string;
  /** Response headers that contain tags, separated by spaces or commas. Responses can be purged by tag. */
  readonly tag_headers?: readonly string[];
  /** Sends the tag headers to clients. Default: `false`. */
  readonly pass_tags?: boolean;
  /** Responses that set cookies: `bypass` does not cache them, `strip` caches them without the cookies, `store` sends the same cookies to all clients. Default: `bypass`. */
  readonly set_cookie?: 'bypass' | 'strip' | 'store';
  /** Caches responses with `no-store`. Only without `cache_control`. Default: `false`. */
  readonly ignore_no_store?: boolean;
}

export interface QuotasConfig {
  /** Requests per day, in UTC. */
  readonly day?: number | null;
  /** Requests per month, in UTC. */
  readonly month?: number | null;
  /** What identifies a client. Requests without a consumer are counted by their credential, or else by their address. Default: `consumer`. */
  readonly limit_by?: 'consumer' | 'credential' | 'ip';
  /** Length of the IPv6 prefix that counts as one client. Default: `64`. */
  readonly ipv6_prefix?: number;
  /** While the store is unavailable: true lets each node accept its share of what is left, false answers requests with 500. Default: `true`. */
  readonly fault_tolerant?: boolean;
  /** Does not send the headers with quotas and remaining requests. Default: `false`. */
  readonly hide_client_headers?: boolean;
  /** Status code of the response when a quota is used up. Default: `429`. */
  readonly error_code?: number;
  /** Message of the response when a quota is used up. Default: `Quota exceeded`. */
  readonly error_message?: string;
}

export interface RateLimitingConfig {
  /** Requests per second. */
  readonly second?: number | null;
  /** Requests per minute. */
  readonly minute?: number | null;
  /** Requests per hour. */
  readonly hour?: number | null;
  /** Requests per day. */
  readonly day?: number | null;
  /** Requests per month. */
  readonly month?: number | null;
  /** Requests per year. */
  readonly year?: number | null;
  /** What identifies a client. If a request has no such value, its credential counts (for `consumer`), and then its address. Default: `consumer`. */
  readonly limit_by?: 'consumer' | 'credential' | 'ip' | 'service' | 'header' | 'path' | null;
  /** Header whose values are counted, for `limit_by` or `rate_by` `header`. */
  readonly header_name?: string | null;
  /** Path whose requests are counted together, for `limit_by` or `rate_by` `path`. */
  readonly path?: string | null;
  /** Where counters are kept: on each node, in the gateway's store, or in Redis. Default: `local`. */
  readonly policy?: 'local' | 'cluster' | 'redis' | null;
  /** While the counters are unavailable: true lets requests pass, false answers them with 500. Default: `true`. */
  readonly fault_tolerant?: boolean;
  /** The Redis server: `host`, or Sentinels, or a cluster. */
  readonly redis?: {
    /** Host name or IP address of the server. Not used with Sentinel or a cluster. */
    readonly host?: string | null;
    /** Port of the server. Default: `6379`. */
    readonly port?: number | null;
    /** Timeout of connecting, and of each command. Unit: ms. Default: `2000`. */
    readonly timeout?: number | null;
    /** User name (ACL); needs Redis 6 or later. */
    readonly username?: string | null;
    /** Password of the server or the user. */
    readonly password?: string | null;
    /** Number of the database. A cluster has only 0. Default: `0`. */
    readonly database?: number | null;
    /** Connects with TLS, also to Sentinels and the nodes of a cluster. Default: `false`. */
    readonly ssl?: boolean | null;
    /** Verifies the server's certificate, with the authorities of `lua_ssl_trusted_certificate`, or the well-known ones without that setting. Default: `false`. */
    readonly ssl_verify?: boolean | null;
    /** Server name (SNI) in the TLS handshake, and the name that is verified. Default: the host. */
    readonly server_name?: string | null;
    /** Timeout of connecting. Default: `timeout`. Unit: ms. */
    readonly connect_timeout?: number | null;
    /** Timeout of each command: the longer of `send_timeout` and `read_timeout`. Default of both: `timeout`. Unit: ms. */
    readonly send_timeout?: number | null;
    /** See `send_timeout`. Unit: ms. */
    readonly read_timeout?: number | null;
    /** With Sentinel: name of the master. */
    readonly sentinel_master?: string | null;
    /** With Sentinel: `master` or `any`, which both mean the master. `slave` is refused. */
    readonly sentinel_role?: 'master' | 'slave' | 'any' | null;
    /** The Sentinels. One that answers is enough. */
    readonly sentinel_nodes?:
      | readonly {
          /** Host name or IP address. Default: `127.0.0.1`. */
          readonly host?: string;
          /** Port. Default: `6379`. */
          readonly port?: number;
        }[]
      | null;
    /** User name (ACL) of the Sentinels. */
    readonly sentinel_username?: string | null;
    /** Password of the Sentinels. */
    readonly sentinel_password?: string | null;
    /** Nodes of a Redis Cluster. One that answers is enough: it names the others. */
    readonly cluster_nodes?:
      | readonly {
          /** Host name or IP address. Default: `127.0.0.1`. */
          readonly ip?: string;
          /** Port. Default: `6379`. */
          readonly port?: number;
        }[]
      | null;
    /** With a cluster: how many redirections one command follows. Default: `5`. */
    readonly cluster_max_redirections?: number | null;
  };
  /** Does not send the headers with limits and remaining requests. Default: `false`. */
  readonly hide_client_headers?: boolean;
  /** Status code of a rejection. Default: `429`. */
  readonly error_code?: number | null;
  /** Message of a rejection. Default: `API rate limit exceeded`. */
  readonly error_message?: string | null;
  /** How often counters are exchanged with Redis. -1: with every request. Unit: s. Default: `-1`. */
  readonly sync_rate?: number;
  /** `fixed`: calendar periods in UTC. `sliding`: the part of the previous period that is still within the window counts too. Default: `fixed`. */
  readonly window_type?: 'fixed' | 'sliding';
  /** Requests of one client, evenly spaced: `10r/s`, `300r/m`. */
  readonly rate?: string | null;
  /** What identifies a client for `rate`; see `limit_by`. Default: `ip`. */
  readonly rate_by?: 'consumer' | 'credential' | 'ip' | 'service' | 'header' | 'path';
  /** Maximum number of requests over the rate that are accepted. They are delayed until their slot, unless `nodelay` is set. Default: `0`. */
  readonly burst?: number;
  /** Requests of the burst are not delayed. Default: `false`. */
  readonly nodelay?: boolean;
  /** Name of the zone. Instances with the same zone and size count together. Default: a zone of its own. */
  readonly zone?: string | null;
  /** Memory of the zone: 15,000 clients per megabyte. When it is full, the least recently used entries are evicted. Default: `10m`. */
  readonly zone_size?: string;
  /** Length of the IPv6 prefix that counts as one client. Default: `64`. */
  readonly ipv6_prefix?: number;
  /** Rejects and delays nothing; logs and metrics report what would have been done. Default: `false`. */
  readonly dry_run?: boolean;
  /** @deprecated Use `redis.host`. */
  readonly redis_host?: string | null;
  /** @deprecated Use `redis.port`. */
  readonly redis_port?: number | null;
  /** @deprecated Use `redis.password`. */
  readonly redis_password?: string | null;
  /** @deprecated Use `redis.username`. */
  readonly redis_username?: string | null;
  /** @deprecated Use `redis.ssl`. */
  readonly redis_ssl?: boolean | null;
  /** @deprecated Use `redis.ssl_verify`. */
  readonly redis_ssl_verify?: boolean | null;
  /** @deprecated Use `redis.server_name`. */
  readonly redis_server_name?: string | null;
  /** @deprecated Use `redis.timeout`. */
  readonly redis_timeout?: number | null;
  /** @deprecated Use `redis.database`. */
  readonly redis_database?: number | null;
}

export interface RedirectConfig {
  /** Status code of the response: 301 or 308 for permanent redirects, 302, 303 or 307 for temporary ones; 307 and 308 keep method and body. One below 200 cannot end a request and is answered with 500. Default: `301`. */
  readonly status_code?: number;
  /** URL of the redirect, with scheme and host. */
  readonly location: string;
  /** Uses only scheme and host of `location`, with path and query of the request. Default: `false`. */
  readonly keep_incoming_path?: boolean | null;
}

export interface RequestMirrorConfig {
  /** URL of the mirror: scheme, host, port, and a path that is prepended to that of the request. It is not a target of the gateway, so no policies of the service apply. */
  readonly url: string;
  /** Percentage of requests that are copied, chosen at random. Default: `100`. */
  readonly percent?: number;
  /** Methods of requests that are copied. Null: all. */
  readonly methods?: readonly string[] | null;
  /** Copies bodies, too. The request then waits until its body is complete. If off, requests with a body are not copied. Default: `false`. */
  readonly with_body?: boolean;
  /** Maximum size of a body in bytes. Requests with a larger body, or one of undeclared length, are not copied. Default: `1048576`. */
  readonly max_body?: number;
  /** Time in milliseconds after which a copy is aborted. Default: `5000`. */
  readonly timeout?: number;
  /** Maximum number of copies in flight per worker. Beyond it requests are not copied. Default: `100`. */
  readonly max_in_flight?: number;
  /** Headers that are removed from copies, such as `Authorization` and `Cookie`. */
  readonly remove_headers?: readonly string[];
  /** Verifies the certificate of an https mirror. Default: `true`. */
  readonly tls_verify?: boolean;
}

export interface RequestSizeLimitingConfig {
  /** Maximum size of a request body, in units of `size_unit`. Default: `128`. */
  readonly allowed_payload_size?: number | null;
  /** Unit of the limit: a kilobyte is 1024 bytes, a megabyte 1024 kilobytes. Default: `megabytes`. */
  readonly size_unit?: 'megabytes' | 'kilobytes' | 'bytes';
  /** Rejects requests that have neither a `Content-Length` nor a chunked body. Default: `false`. */
  readonly require_content_length?: boolean;
}

export interface RequestTerminationConfig {
  /** Status code of the response. One below 200 cannot end a request and is answered with 500. Default: `503`. */
  readonly status_code?: number;
  /** Message of the response, in a JSON object. If neither it nor `body` is set, the response has the standard message of the status (401, 404, 405, 500, 502, 503), or an empty body. */
  readonly message?: string | null;
  /** Media type of `body`. */
  readonly content_type?: string | null;
  /** Body of the response, instead of `message`. */
  readonly body?: string | null;
  /** Answers with a description of the request, what it matched, and the node. For debugging. Default: `false`. */
  readonly echo?: boolean;
  /** Name of a header or query argument. If set, only requests that have it are answered. */
  readonly trigger?: string | null;
}

export interface RequestTransformerConfig {
  /** Method of the request to the backend. With `GET`, `HEAD` and `DELETE` the fields of an urlencoded form move to the query. */
  readonly http_method?: string | null;
  /** Names to remove. Runs first. */
  readonly remove?: {
    /** Fields of the body to remove; in JSON also JSONPaths (RFC 9535): `$.data.items[*].id`. */
    readonly body?: readonly string[];
    /** Headers to remove. */
    readonly headers?: readonly string[];
    /** Query arguments to remove. */
    readonly querystring?: readonly string[];
  };
  /** Names to change; the values stay. */
  readonly rename?: {
    /** Fields of the body to rename as `old:new`; in JSON the old name may be a JSONPath (RFC 9535). */
    readonly body?: readonly string[];
    /** Headers to rename, as `old:new`. */
    readonly headers?: readonly string[];
    /** Query arguments to rename, as `old:new`. */
    readonly querystring?: readonly string[];
  };
  /** Values to change where the name exists. */
  readonly replace?: {
    /** Fields of the body as `name:value`, set if the name exists. In JSON the name may be a JSONPath (RFC 9535): `$.data.items[*].id`. */
    readonly body?: readonly string[];
    /** Headers as `name:value`, set if the name exists. */
    readonly headers?: readonly string[];
    /** Query arguments as `name:value`, set if the name exists. */
    readonly querystring?: readonly string[];
    /** Path of the request to the backend, a template. The path of the service is not prepended; the query stays. Values are percent-encoded, including slashes, except those of `uri_captures` and `path(...)`. */
    readonly uri?: string | null;
  };
  /** Values to set where the name does not exist. */
  readonly add?: {
    /** Fields of the body as `name:value`, set if the name does not exist. In JSON the name may be a JSONPath (RFC 9535): `$.data.items[*].id`. */
    readonly body?: readonly string[];
    /** Headers as `name:value`, set if the name does not exist. */
    readonly headers?: readonly string[];
    /** Query arguments as `name:value`, set if the name does not exist. */
    readonly querystring?: readonly string[];
  };
  /** Values to add in any case. */
  readonly append?: {
    /** Fields of the body as `name:value`, added in addition to what exists. In JSON the name may be a JSONPath (RFC 9535): `$.data.items[*].id`. */
    readonly body?: readonly string[];
    /** Headers as `name:value`, added in addition to what exists. */
    readonly headers?: readonly string[];
    /** Query arguments as `name:value`, added in addition to what exists. */
    readonly querystring?: readonly string[];
  };
  /** Maximum size of a body that is changed, measured after decoding. A larger one is answered with 413. Unit: bytes. Default: `8388608`. */
  readonly max_body_size?: number;
}

export interface RequestValidatorConfig {
  /** Schema of request bodies, as JSON text in the format of `version`. Null: bodies are not validated. */
  readonly body_schema?: string | null;
  /** Parameters that are validated. */
  readonly parameter_schema?:
    | readonly {
        /** Location of the parameter. */
        readonly in: 'query' | 'header' | 'path';
        /** Name of the parameter. In a path: name of a capture of the route's path. */
        readonly name: string;
        /** Rejects requests without the parameter. Default: `false`. */
        readonly required?: boolean;
        /** Serialization of lists and objects, as in OpenAPI. Null: `form` in queries, else `simple`. */
        readonly style?:
          | 'label'
          | 'form'
          | 'matrix'
          | 'simple'
          | 'spaceDelimited'
          | 'pipeDelimited'
          | 'deepObject'
          | null;
        /** Whether lists and objects are exploded, as in OpenAPI. Null: true with `form`. */
        readonly explode?: boolean | null;
        /** JSON Schema of the value, as JSON text. Null: any value. */
        readonly schema?: string | null;
      }[]
    | null;
  /** Format of the schemas: JSON Schema, or Kong's own format (for bodies; parameters are draft4 then). Default: `kong`. */
  readonly version?: 'kong' | 'draft4' | 'draft6' | 'draft7' | 'draft201909' | 'draft202012';
  /** Accepted content types of request bodies, if `body_schema` is set; `application/*` and `*​/*` are wildcards. JSON bodies are validated, others pass. */
  readonly allowed_content_types?: readonly string[];
  /** An allowed type with parameters (`; charset=utf-8`) accepts only those. If off, parameters are ignored. Default: `true`. */
  readonly content_type_parameter_validation?: boolean;
  /** Responses list the errors. Default: `false`. */
  readonly verbose_response?: boolean;
  /** Maximum size of a request body, if `body_schema` is set. A larger one is answered with 413. Kong has no such field. Unit: bytes. Default: `1048576`. */
  readonly max_body_size?: number;
}

export interface ResponseHeadersConfig {
  /** Set of headers. `strict`: for pages that load everything from their own origin. `api`: for responses that are not pages; no cache stores them. `none`: only those of `headers`. Default: `api`. */
  readonly preset?: 'strict' | 'api' | 'none';
  /** Headers to add to the preset, or to override in it. */
  readonly headers?: { readonly [name: string]: string };
  /** Headers of the preset that are not set. */
  readonly omit?: readonly string[];
  /** `absent`: a header of the backend stays. `always`: it is replaced. Default: `absent`. */
  readonly when?: 'absent' | 'always';
  /** HTTP Strict Transport Security (RFC 6797). */
  readonly hsts?: {
    /** Sets `Strict-Transport-Security` on responses to HTTPS requests, with every preset. Default: `true`. */
    readonly enabled?: boolean;
    /** Time that browsers use only HTTPS. 0: they end it at once. Unit: s. Default: `31536000`. */
    readonly max_age?: number;
    /** Includes subdomains. Default: `true`. */
    readonly include_subdomains?: boolean;
    /** Allows browsers to preload the host as HTTPS-only. Removal from their lists is difficult. Default: `false`. */
    readonly preload?: boolean;
  };
  /** Headers to remove from responses of backends, before others are set. */
  readonly remove?: readonly string[];
}

export interface ResponseRatelimitingConfig {
  /** Response header in which the backend sends the cost of the request: `video=2, image=1`. Default: `x-kong-limit`. */
  readonly header_name?: string | null;
  /** What identifies a client. Requests without a consumer are counted by their credential, or else by their address. Default: `consumer`. */
  readonly limit_by?: 'consumer' | 'credential' | 'ip' | null;
  /** Where counters are kept: on each node, in the gateway's store, or in Redis. Default: `local`. */
  readonly policy?: 'local' | 'cluster' | 'redis' | null;
  /** While the counters are unavailable: true lets requests pass, false answers them with 500. Default: `true`. */
  readonly fault_tolerant?: boolean;
  /** The Redis server: `host`, or Sentinels, or a cluster. */
  readonly redis?: {
    /** Host name or IP address of the server. Not used with Sentinel or a cluster. */
    readonly host?: string | null;
    /** Port of the server. Default: `6379`. */
    readonly port?: number | null;
    /** Timeout of connecting, and of each command. Unit: ms. Default: `2000`. */
    readonly timeout?: number | null;
    /** User name (ACL); needs Redis 6 or later. */
    readonly username?: string | null;
    /** Password of the server or the user. */
    readonly password?: string | null;
    /** Number of the database. A cluster has only 0. Default: `0`. */
    readonly database?: number | null;
    /** Connects with TLS, also to Sentinels and the nodes of a cluster. Default: `false`. */
    readonly ssl?: boolean | null;
    /** Verifies the server's certificate, with the authorities of `lua_ssl_trusted_certificate`, or the well-known ones without that setting. Default: `false`. */
    readonly ssl_verify?: boolean | null;
    /** Server name (SNI) in the TLS handshake, and the name that is verified. Default: the host. */
    readonly server_name?: string | null;
    /** Timeout of connecting. Default: `timeout`. Unit: ms. */
    readonly connect_timeout?: number | null;
    /** Timeout of each command: the longer of `send_timeout` and `read_timeout`. Default of both: `timeout`. Unit: ms. */
    readonly send_timeout?: number | null;
    /** See `send_timeout`. Unit: ms. */
    readonly read_timeout?: number | null;
    /** With Sentinel: name of the master. */
    readonly sentinel_master?: string | null;
    /** With Sentinel: `master` or `any`, which both mean the master. `slave` is refused. */
    readonly sentinel_role?: 'master' | 'slave' | 'any' | null;
    /** The Sentinels. One that answers is enough. */
    readonly sentinel_nodes?:
      | readonly {
          /** Host name or IP address. Default: `127.0.0.1`. */
          readonly host?: string;
          /** Port. Default: `6379`. */
          readonly port?: number;
        }[]
      | null;
    /** User name (ACL) of the Sentinels. */
    readonly sentinel_username?: string | null;
    /** Password of the Sentinels. */
    readonly sentinel_password?: string | null;
    /** Nodes of a Redis Cluster. One that answers is enough: it names the others. */
    readonly cluster_nodes?:
      | readonly {
          /** Host name or IP address. Default: `127.0.0.1`. */
          readonly ip?: string;
          /** Port. Default: `6379`. */
          readonly port?: number;
        }[]
      | null;
    /** With a cluster: how many redirections one command follows. Default: `5`. */
    readonly cluster_max_redirections?: number | null;
  };
  /** Rejects requests as soon as one of the limits is used up, whatever they would cost. Default: `false`. */
  readonly block_on_first_violation?: boolean;
  /** Does not send the headers with limits and remaining units. Default: `false`. */
  readonly hide_client_headers?: boolean;
  /** Limits by name of the cost. */
  readonly limits: {
    readonly [name: string]: {
      /** Units per second. */
      readonly second?: number | null;
      /** Units per minute. */
      readonly minute?: number | null;
      /** Units per hour. */
      readonly hour?: number | null;
      /** Units per day. */
      readonly day?: number | null;
      /** Units per month. */
      readonly month?: number | null;
      /** Units per year. */
      readonly year?: number | null;
    };
  };
  /** @deprecated Use `redis.host`. */
  readonly redis_host?: string | null;
  /** @deprecated Use `redis.port`. */
  readonly redis_port?: number | null;
  /** @deprecated Use `redis.password`. */
  readonly redis_password?: string | null;
  /** @deprecated Use `redis.username`. */
  readonly redis_username?: string | null;
  /** @deprecated Use `redis.ssl`. */
  readonly redis_ssl?: boolean | null;
  /** @deprecated Use `redis.ssl_verify`. */
  readonly redis_ssl_verify?: boolean | null;
  /** @deprecated Use `redis.server_name`. */
  readonly redis_server_name?: string | null;
  /** @deprecated Use `redis.timeout`. */
  readonly redis_timeout?: number | null;
  /** @deprecated Use `redis.database`. */
  readonly redis_database?: number | null;
}

export interface ResponseTransformerConfig {
  /** Names to remove. Runs first. */
  readonly remove?: {
    /** Fields of a JSON body to remove, or JSONPaths (RFC 9535): `$.data.items[*].id`. */
    readonly json?: readonly string[];
    /** Headers to remove. */
    readonly headers?: readonly string[];
  };
  /** Names to change; the values stay. */
  readonly rename?: {
    /** Fields of a JSON body to rename, as `old:new`; the old name may be a JSONPath (RFC 9535). */
    readonly json?: readonly string[];
    /** Headers to rename, as `old:new`. */
    readonly headers?: readonly string[];
  };
  /** Values to change where the name exists. */
  readonly replace?: {
    /** Fields of a JSON body as `name:value`, set if the name exists. The name may be a JSONPath (RFC 9535): `$.data.items[*].id`. */
    readonly json?: readonly string[];
    /** Types of the values of `json`, in the same order. Default: string. */
    readonly json_types?: readonly ('boolean' | 'number' | 'string')[];
    /** Headers as `name:value`, set if the name exists. */
    readonly headers?: readonly string[];
  };
  /** Values to set where the name does not exist. */
  readonly add?: {
    /** Fields of a JSON body as `name:value`, set if the name does not exist. The name may be a JSONPath (RFC 9535): `$.data.items[*].id`. */
    readonly json?: readonly string[];
    /** Types of the values of `json`, in the same order. Default: string. */
    readonly json_types?: readonly ('boolean' | 'number' | 'string')[];
    /** Headers as `name:value`, set if the name does not exist. */
    readonly headers?: readonly string[];
  };
  /** Values to add in any case. */
  readonly append?: {
    /** Fields of a JSON body as `name:value`, added in addition to what exists. The name may be a JSONPath (RFC 9535): `$.data.items[*].id`. */
    readonly json?: readonly string[];
    /** Types of the values of `json`, in the same order. Default: string. */
    readonly json_types?: readonly ('boolean' | 'number' | 'string')[];
    /** Headers as `name:value`, added in addition to what exists. */
    readonly headers?: readonly string[];
  };
  /** Statuses of the responses that are changed, single or ranges: `200-299`, `404`. Empty: all. */
  readonly if_status?: readonly string[];
  /** Maximum size of a JSON body that is changed, measured after decoding. A larger one gives 502. Unit: bytes. Default: `8388608`. */
  readonly max_body_size?: number;
}

export interface RetriesConfig {
  /** Maximum number of retries. Overrides `retries` of the service. Default: `2`. */
  readonly retries?: number;
  /** What is retried: no connection; a timeout before the first byte of the response; a broken connection or a response that is not HTTP; one of `statuses`. */
  readonly on?: readonly ('connect-failure' | 'timeout' | 'broken-answer' | 'status')[];
  /** Statuses of the backend that are retried, with `status` in `on`. */
  readonly statuses?: readonly number[];
  /** Methods that may be retried once the backend may have seen the request. If no connection was made, every method is retried. */
  readonly methods?: readonly string[];
  /** Timeout from the start of an attempt to the first byte of its response, in milliseconds. 0: no limit of its own. Default: `0`. */
  readonly try_timeout?: number;
  /** Maximum delay before the first retry, in milliseconds; doubled for each further one. The delay is random between 0 and that. Default: `25`. */
  readonly backoff?: number;
  /** Maximum delay in milliseconds. Default: `250`. */
  readonly backoff_max?: number;
  /** Maximum percentage of the live requests of the service that may be retries at any time. Default: `20`. */
  readonly budget_percent?: number;
  /** Number of simultaneous retries that are always allowed, for services with few requests. Default: `3`. */
  readonly budget_min?: number;
  /** Timeout of the whole request in milliseconds, including all attempts and delays. 0: no limit. It overrides `total` of `timeouts`. Default: `0`. */
  readonly total_timeout?: number;
  /** Header with the milliseconds of `total_timeout` that are left when an attempt begins. Null: none. Default: `X-Request-Timeout`. */
  readonly deadline_header?: string | null;
}

export interface SessionConfig {
  /** Secret that encrypts the cookies. Anyone who knows it can forge sessions; a change ends all sessions. */
  readonly secret?: string;
  /** `cookie`: in the cookie. `kong`: in the gateway's store, where administrators can list and delete sessions. Default: `cookie`. */
  readonly storage?: 'cookie' | 'kong' | null;
  /** Name of the application. Sessions with another audience are not accepted. Default: `default`. */
  readonly audience?: string | null;
  /** Lifetime of a session after its last use. 0: no limit. Unit: s. Default: `900`. */
  readonly idling_timeout?: number | null;
  /** Lifetime of a session after its last renewal; use renews it. 0: no limit. Unit: s. Default: `3600`. */
  readonly rolling_timeout?: number | null;
  /** Lifetime of a session after its begin. 0: no limit. Unit: s. Default: `86400`. */
  readonly absolute_timeout?: number | null;
  /** Time that a renewed session is still accepted (`storage: kong`). Unit: s. Default: `10`. */
  readonly stale_ttl?: number | null;
  /** Maximum number of stored sessions of one credential (`storage: kong`). A further login ends the session that expires first. 0: no limit. Default: `1000`. */
  readonly sessions_per_credential?: number | null;
  /** Name of the cookie. Default: `session`. */
  readonly cookie_name?: string | null;
  /** Path of the cookie. Default: `/`. */
  readonly cookie_path?: string | null;
  /** Domain of the cookie. Unset: only the host that sets it. */
  readonly cookie_domain?: string | null;
  /** The `SameSite` attribute of the cookie. `Default`: the browser decides. Default: `Strict`. */
  readonly cookie_same_site?: 'Strict' | 'Lax' | 'None' | 'Default' | null;
  /** Hides the cookie from scripts (`HttpOnly`). Default: `true`. */
  readonly cookie_http_only?: boolean | null;
  /** Sends the cookie over TLS only. Default: `true`. */
  readonly cookie_secure?: boolean | null;
  /** Sets a second cookie that outlives the browser, and begins a new session when the first one has expired. Default: `false`. */
  readonly remember?: boolean | null;
  /** Name of the second cookie. Default: `remember`. */
  readonly remember_cookie_name?: string | null;
  /** Lifetime of the second cookie after its last use. 0: no limit. Unit: s. Default: `604800`. */
  readonly remember_rolling_timeout?: number | null;
  /** Lifetime of the second cookie after the login. 0: no limit. Unit: s. Default: `2592000`. */
  readonly remember_absolute_timeout?: number | null;
  /** Facts about the session that the response has, in headers such as `Session-Id`. */
  readonly response_headers?:
    | readonly ('id' | 'audience' | 'subject' | 'timeout' | 'idling-timeout' | 'rolling-timeout' | 'absolute-timeout')[]
    | null;
  /** Facts about the session that the backend receives, in the same headers. */
  readonly request_headers?:
    | readonly ('id' | 'audience' | 'subject' | 'timeout' | 'idling-timeout' | 'rolling-timeout' | 'absolute-timeout')[]
    | null;
  /** Searches bodies of requests for a logout, too. Default: `false`. */
  readonly read_body_for_logout?: boolean | null;
  /** Methods of requests that may log out. */
  readonly logout_methods?: readonly ('GET' | 'POST' | 'DELETE')[] | null;
  /** Query argument that logs out. Default: `session_logout`. */
  readonly logout_query_arg?: string | null;
  /** With `read_body_for_logout`: body argument that logs out. Default: `session_logout`. */
  readonly logout_post_arg?: string | null;
  readonly cookie_lifetime?: number | null;
  readonly cookie_idletime?: number | null;
  readonly cookie_discard?: number | null;
  readonly cookie_renew?: number | null;
  readonly cookie_httponly?: boolean | null;
  readonly cookie_samesite?: 'Strict' | 'Lax' | 'None' | 'Default' | 'off' | null;
  readonly cookie_persistent?: boolean | null;
}

export interface StatsdConfig {
  /** Host name or IP address of the statsd server. Default: `localhost`. */
  readonly host?: string | null;
  /** Port of the server. Default: `8125`. */
  readonly port?: number | null;
  /** Prefix of all metric names. Dots separate its parts. Default: `kong`. */
  readonly prefix?: string | null;
  /** Metrics that are sent for each request. Null: none. */
  readonly metrics?:
    | readonly {
        /** Name of the metric; see the table above. */
        readonly name:
          | 'kong_latency'
          | 'latency'
          | 'request_count'
          | 'request_per_user'
          | 'request_size'
          | 'response_size'
          | 'shdict_usage'
          | 'status_count'
          | 'status_count_per_user'
          | 'status_count_per_user_per_route'
          | 'status_count_per_workspace'
          | 'unique_users'
          | 'upstream_latency';
        /** Statsd type of the metric. `unique_users` can only be a `set`. */
        readonly stat_type: 'counter' | 'gauge' | 'histogram' | 'meter' | 'set' | 'timer';
        /** Fraction of requests that are reported; 1 or more: all. Required for `counter` and `gauge`; ignored for `set` and `meter`. Null: all. */
        readonly sample_rate?: number | null;
        /** Field that names the consumer. Null: `consumer_identifier_default`. */
        readonly consumer_identifier?: 'consumer_id' | 'custom_id' | 'username' | null;
        /** Field that names the service. Null: `service_identifier_default`. */
        readonly service_identifier?: 'service_id' | 'service_name' | 'service_host' | 'service_name_or_host' | null;
        /** Field that names the workspace. Null: `workspace_identifier_default`. */
        readonly workspace_identifier?: 'workspace_id' | 'workspace_name' | null;
      }[]
    | null;
  /** Reports only requests whose status is in one of these ranges. Null: all. */
  readonly allow_status_codes?: readonly string[] | null;
  /** Maximum size of a datagram. 0: 1432, which passes an Ethernet without fragmentation. 1: one datagram per metric. Unit: bytes. Default: `0`. */
  readonly udp_packet_size?: number | null;
  /** Uses a TCP connection instead of UDP. Default: `false`. */
  readonly use_tcp?: boolean | null;
  /** Inserts the name of this machine after the prefix: `kong.node.<name>.` Default: `false`. */
  readonly hostname_in_prefix?: boolean | null;
  /** Field that names consumers by default. Default: `custom_id`. */
  readonly consumer_identifier_default?: 'consumer_id' | 'custom_id' | 'username';
  /** Field that names services by default. Default: `service_name_or_host`. */
  readonly service_identifier_default?: 'service_id' | 'service_name' | 'service_host' | 'service_name_or_host';
  /** Field that names the workspace by default. There is one, `default`; its id equals its name. Default: `workspace_id`. */
  readonly workspace_identifier_default?: 'workspace_id' | 'workspace_name';
  /** Deprecated and ignored: see `queue.max_retry_time`. */
  readonly retry_count?: number | null;
  /** Deprecated: overrides `queue.max_batch_size` when set. */
  readonly queue_size?: number | null;
  /** Deprecated: overrides `queue.max_coalescing_delay` when set. Unit: s. */
  readonly flush_timeout?: number | null;
  /** Sends service, route, consumer, workspace and status as tags in this format. Null: in the name. */
  readonly tag_style?: 'dogstatsd' | 'influxdb' | 'librato' | 'signalfx' | null;
  /** How requests are batched, kept and retried. Each worker has its own queue. */
  readonly queue?: {
    /** Maximum number of requests in one batch. Default: `1`. */
    readonly max_batch_size?: number | null;
    /** Maximum time that requests wait for the batch to fill up to `max_batch_size`. Unit: s. Default: `1`. */
    readonly max_coalescing_delay?: number | null;
    /** Maximum number of requests that each worker keeps, including those being sent. Beyond it the oldest is dropped. Default: `10000`. */
    readonly max_entries?: number | null;
    /** Maximum size of the requests that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB. Unit: bytes. */
    readonly max_bytes?: number | null;
    /** Time for which delivery of a batch is retried before it is dropped. Unit: s. Default: `60`. */
    readonly max_retry_time?: number | null;
    /** Delay before the first retry. It doubles with each further one. Unit: s. Default: `0.01`. */
    readonly initial_retry_delay?: number | null;
    /** Maximum delay between two attempts. Unit: s. Default: `60`. */
    readonly max_retry_delay?: number | null;
    /** `1`: batches are sent one after the other. `-1`: up to 32 at the same time. Default: `1`. */
    readonly concurrency_limit?: -1 | 1 | null;
  };
}

export interface SyslogConfig {
  /** Minimum severity. Records of a lower severity are not sent. Default: `info`. */
  readonly log_level?: 'debug' | 'info' | 'notice' | 'warning' | 'err' | 'crit' | 'alert' | 'emerg';
  /** Severity of responses with a status below 400. Default: `info`. */
  readonly successful_severity?: 'debug' | 'info' | 'notice' | 'warning' | 'err' | 'crit' | 'alert' | 'emerg';
  /** Severity of responses with a status from 400 to 499. Default: `info`. */
  readonly client_errors_severity?: 'debug' | 'info' | 'notice' | 'warning' | 'err' | 'crit' | 'alert' | 'emerg';
  /** Severity of responses with a status of 500 and more. Default: `info`. */
  readonly server_errors_severity?: 'debug' | 'info' | 'notice' | 'warning' | 'err' | 'crit' | 'alert' | 'emerg';
  /** Facility of the messages. Default: `user`. */
  readonly facility?:
    | 'auth'
    | 'authpriv'
    | 'cron'
    | 'daemon'
    | 'ftp'
    | 'kern'
    | 'lpr'
    | 'mail'
    | 'news'
    | 'syslog'
    | 'user'
    | 'uucp'
    | 'local0'
    | 'local1'
    | 'local2'
    | 'local3'
    | 'local4'
    | 'local5'
    | 'local6'
    | 'local7';
  /** `local`: the daemon of this machine, over a Unix stream socket. The others: `host` and `port`, RFC 5424. With `tls` the certificate of the receiver must be for `host`. Default: `local`. */
  readonly protocol?: 'local' | 'udp' | 'tcp' | 'tls';
  /** Host name or IP address of the receiver. Not for `local`. Default: `localhost`. */
  readonly host?: string;
  /** Port of the receiver. Not for `local`. Default: `514`. */
  readonly port?: number;
  /** Path of the socket for `local`. Null: `/dev/log`, or that of the journal if `/dev/log` accepts no streams. */
  readonly socket_path?: string | null;
  /** Maximum size of a message; longer ones are cut. Do not exceed the limit of the receiver: many make a second message of the rest, which a client could forge. Unit: bytes. Default: `8192`. */
  readonly max_size?: number;
  /** How records are batched, kept and retried. Each worker has its own queue. */
  readonly queue?: {
    /** Maximum number of records in one batch. Default: `100`. */
    readonly max_batch_size?: number | null;
    /** Maximum time that records wait for the batch to fill up to `max_batch_size`. Unit: s. Default: `0.1`. */
    readonly max_coalescing_delay?: number | null;
    /** Maximum number of records that each worker keeps, including those being sent. Beyond it the oldest is dropped. Default: `10000`. */
    readonly max_entries?: number | null;
    /** Maximum size of the records that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB. Unit: bytes. */
    readonly max_bytes?: number | null;
    /** Time for which delivery of a batch is retried before it is dropped. Unit: s. Default: `60`. */
    readonly max_retry_time?: number | null;
    /** Delay before the first retry. It doubles with each further one. Unit: s. Default: `0.01`. */
    readonly initial_retry_delay?: number | null;
    /** Maximum delay between two attempts. Unit: s. Default: `60`. */
    readonly max_retry_delay?: number | null;
    /** `1`: batches are sent one after the other. `-1`: up to 32 at the same time. Default: `1`. */
    readonly concurrency_limit?: -1 | 1 | null;
  };
  /** Fields to add to the record or to replace in it: a name and a template such as `$(headers.x_tenant)`. A dot in a name leads into an object (`request.headers.cookie`); `\.` is a literal dot. A field whose template renders empty is removed, so an empty template always removes it. Values are those of the record: secrets stay masked. */
  readonly custom_fields?: { readonly [name: string]: string } | null;
  /** The same with Kong's Lua expressions: `return kong.request.get_header('x-tenant') or 'none'`, or `return nil` to remove a field. No Lua is executed: strings, numbers, `or`, `..` and the getters of `kong.request`, `kong.response`, `kong.client`, `kong.router` and `kong.ctx.shared` are supported; everything else is rejected. */
  readonly custom_fields_by_lua?: { readonly [name: string]: string } | null;
}

export interface TcpLogConfig {
  /** Host name or IP address of the receiver. */
  readonly host: string;
  /** TCP port of the receiver. */
  readonly port: number;
  /** Timeout of connecting (including TLS), and then the time without progress after which a connection is given up. Unit: ms. Default: `10000`. */
  readonly timeout?: number | null;
  /** Time after which an idle connection is closed. 0: when the receiver closes it. Unit: ms. Default: `60000`. */
  readonly keepalive?: number | null;
  /** Connects with TLS. Default: `false`. */
  readonly tls?: boolean;
  /** Server name (SNI) of the TLS handshake; the certificate must be for it. Null: `host`. */
  readonly tls_sni?: string | null;
  /** Verifies the certificate of the receiver, with the authorities of `lua_ssl_trusted_certificate`, or the well-known ones without that setting. Default: `true`. */
  readonly tls_verify?: boolean;
  /** How records are batched, kept and retried. Each worker has its own queue. */
  readonly queue?: {
    /** Maximum number of records in one batch. Default: `100`. */
    readonly max_batch_size?: number | null;
    /** Maximum time that records wait for the batch to fill up to `max_batch_size`. Unit: s. Default: `0.1`. */
    readonly max_coalescing_delay?: number | null;
    /** Maximum number of records that each worker keeps, including those being sent. Beyond it the oldest is dropped. Default: `10000`. */
    readonly max_entries?: number | null;
    /** Maximum size of the records that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB. Unit: bytes. */
    readonly max_bytes?: number | null;
    /** Time for which delivery of a batch is retried before it is dropped. Unit: s. Default: `60`. */
    readonly max_retry_time?: number | null;
    /** Delay before the first retry. It doubles with each further one. Unit: s. Default: `0.01`. */
    readonly initial_retry_delay?: number | null;
    /** Maximum delay between two attempts. Unit: s. Default: `60`. */
    readonly max_retry_delay?: number | null;
    /** `1`: batches are sent one after the other. `-1`: up to 32 at the same time. Default: `1`. */
    readonly concurrency_limit?: -1 | 1 | null;
  };
  /** Fields to add to the record or to replace in it: a name and a template such as `$(headers.x_tenant)`. A dot in a name leads into an object (`request.headers.cookie`); `\.` is a literal dot. A field whose template renders empty is removed, so an empty template always removes it. Values are those of the record: secrets stay masked. */
  readonly custom_fields?: { readonly [name: string]: string } | null;
  /** The same with Kong's Lua expressions: `return kong.request.get_header('x-tenant') or 'none'`, or `return nil` to remove a field. No Lua is executed: strings, numbers, `or`, `..` and the getters of `kong.request`, `kong.response`, `kong.client`, `kong.router` and `kong.ctx.shared` are supported; everything else is rejected. */
  readonly custom_fields_by_lua?: { readonly [name: string]: string } | null;
}

export interface ThrottlingConfig {
  /** Rate at which requests of one client are forwarded: `10r/s`, `300r/m`. */
  readonly rate: string;
  /** Number of requests over the rate that are forwarded without delay. Default: `0`. */
  readonly burst?: number;
  /** Maximum number of waiting requests of one client, over all workers of the node. Default: `100`. */
  readonly queue_size?: number;
  /** Maximum delay. Requests that would have to wait longer are rejected at once. Unit: ms. Default: `10000`. */
  readonly max_wait?: number;
  /** Maximum number of waiting requests of all clients in one worker. Each of them holds a connection. Default: `1000`. */
  readonly max_waiting?: number;
  /** What identifies a client. If a request has no such value, its credential counts (for `consumer`), and then its address. Default: `consumer`. */
  readonly limit_by?: 'consumer' | 'credential' | 'ip' | 'route' | 'service' | 'header';
  /** Header whose values are counted, for `limit_by` `header`. */
  readonly header_name?: string | null;
  /** Length of the IPv6 prefix that counts as one client. Default: `64`. */
  readonly ipv6_prefix?: number;
  /** Status code of a rejection. Default: `429`. */
  readonly error_code?: number;
  /** Message of a rejection. Default: `Too many requests`. */
  readonly error_message?: string;
}

export interface TimeoutsConfig {
  /** Timeout of opening a connection, including TLS, in milliseconds. Default: `connect_timeout` of the service. */
  readonly connect?: number | null;
  /** Timeout between two writes to the backend, in milliseconds. Default: `write_timeout` of the service. */
  readonly send?: number | null;
  /** Timeout from the end of the request to the first byte of the response, in milliseconds. Default: `read_timeout` of the service. */
  readonly first_byte?: number | null;
  /** Timeout between two reads of the response or a WebSocket, in milliseconds. Default: `read_timeout` of the service. */
  readonly idle?: number | null;
  /** Timeout from the arrival of the request to the end of the response, over all attempts, in milliseconds. Default: no limit. */
  readonly total?: number | null;
}

export interface TrafficSplitConfig {
  /** The parts of the traffic. Put those that will grow first: they keep their clients as their weights grow. */
  readonly backends: readonly {
    /** Name of the part in the log, in `force_header` and in `show_header`. */
    readonly name: string;
    /** Weight of the part: its share is this weight divided by the sum of all. Default: `1`. */
    readonly weight?: number;
    /** Name or id of the service of this part, with its own address, path and timeouts. Null: the route's own. */
    readonly service?: string | null;
    /** Name of the upstream of this part. Everything else stays as in the route's service. */
    readonly upstream?: string | null;
  }[];
  /** What keeps a client in one part: its consumer, its address, the value of a header, or a cookie that the gateway sets. A request without it is assigned at random. Default: `none`. */
  readonly sticky_by?: 'none' | 'consumer' | 'ip' | 'header' | 'cookie';
  /** Name of the header for `sticky_by` `header`. */
  readonly header_name?: string | null;
  /** Name of the cookie for `sticky_by` `cookie`. It holds a random number and nothing about the client. Default: `traffic_split`. */
  readonly cookie_name?: string;
  /** Time in seconds that browsers keep the cookie. 0: until they are closed. Default: `0`. */
  readonly cookie_max_age?: number;
  /** Header that names the part of a request, for tests. Null: none. */
  readonly force_header?: string | null;
  /** Adds the header `X-Traffic-Split` with the part to responses. Default: `false`. */
  readonly show_header?: boolean;
}

export interface UdpLogConfig {
  /** Host name or IP address of the receiver. */
  readonly host: string;
  /** UDP port of the receiver. */
  readonly port: number;
  /** Accepted for compatibility with Kong and ignored: UDP has nothing to wait for. Unit: ms. Default: `10000`. */
  readonly timeout?: number | null;
  /** Fields to add to the record or to replace in it: a name and a template such as `$(headers.x_tenant)`. A dot in a name leads into an object (`request.headers.cookie`); `\.` is a literal dot. A field whose template renders empty is removed, so an empty template always removes it. Values are those of the record: secrets stay masked. */
  readonly custom_fields?: { readonly [name: string]: string } | null;
  /** The same with Kong's Lua expressions: `return kong.request.get_header('x-tenant') or 'none'`, or `return nil` to remove a field. No Lua is executed: strings, numbers, `or`, `..` and the getters of `kong.request`, `kong.response`, `kong.client`, `kong.router` and `kong.ctx.shared` are supported; everything else is rejected. */
  readonly custom_fields_by_lua?: { readonly [name: string]: string } | null;
}

export interface XmlJsonConfig {
  /** Format of the backend. */
  readonly backend: 'json' | 'xml';
  /** Format of clients: by their `Accept` and `Content-Type`, or always the same. Default: `negotiate`. */
  readonly client?: 'negotiate' | 'json' | 'xml';
  /** Converts request bodies. Default: `true`. */
  readonly requests?: boolean;
  /** Converts bodies of responses. Default: `true`. */
  readonly responses?: boolean;
  /** Format for clients that accept both equally and have sent neither. Null: that of the backend. */
  readonly preferred?: 'json' | 'xml' | null;
  /** `refuse`: a body of another type gets 415, and a client that accepts neither format 406. `pass`: both pass unchanged. Default: `refuse`. */
  readonly unfit?: 'refuse' | 'pass';
  /** Content type of converted JSON. Default: `application/json`. */
  readonly json_type?: string;
  /** Content type of converted XML. Null: `application/xml`, or `text/xml` for clients that prefer it; with SOAP that of its version. */
  readonly xml_type?: string | null;
  /** Maximum size of a body that is converted. A larger one gets 413, from a backend 502. XML made from JSON may be eight times as large, up to 32 MiB. Unit: bytes. Default: `1048576`. */
  readonly max_body_size?: number;
  /** Maximum depth of nested elements. Default: `100`. */
  readonly max_depth?: number;
  /** Maximum number of elements, attributes and texts together. Default: `250000`. */
  readonly max_nodes?: number;
  /** How XML and JSON are mapped to each other. */
  readonly mapping?: {
    /** Prefix of members for attributes. It must begin with a character that no name begins with. Default: `@`. */
    readonly attribute_prefix?: string;
    /** Member for the text of an element with attributes. Default: `#text`. */
    readonly text_name?: string;
    /** Member for content whose order counts: strings, and objects with one member for elements. Default: `#content`. */
    readonly content_name?: string;
    /** XML to JSON: removes prefixes from names, and declarations of namespaces. Default: `false`. */
    readonly strip_namespaces?: boolean;
    /** XML to JSON: the root element is the single member of an object. If off, only its content is used. Default: `true`. */
    readonly keep_root?: boolean;
    /** JSON to XML: name of the root element. Null: the single member of an object is the root; anything else is wrapped in `root`. */
    readonly root?: string | null;
    /** JSON to XML: element name for items of an array within an array, or of an array at the top level. Default: `item`. */
    readonly item_name?: string;
    /** JSON to XML: namespaces that are declared at the root, by prefix; '' is the default one. */
    readonly namespaces?: { readonly [name: string]: string } | null;
    /** Elements that are arrays even if they occur once. */
    readonly arrays?: readonly string[] | null;
    /** Elements whose content keeps its order (`content_name`). */
    readonly ordered?: readonly string[] | null;
    /** Elements and attributes that are numbers, if their text is one. */
    readonly numbers?: readonly string[] | null;
    /** Elements and attributes that are booleans, if their text is `true`, `false`, `1` or `0`. */
    readonly booleans?: readonly string[] | null;
    /** Elements and attributes that stay strings with `infer`. */
    readonly strings?: readonly string[] | null;
    /** JSON to XML: elements whose text is written as a CDATA section. */
    readonly cdata?: readonly string[] | null;
    /** Converts texts that look like a number, and would be written the same way again, or like a boolean. Default: `false`. */
    readonly infer?: boolean;
    /** `empty`: null and an empty element are equivalent. `nil`: null is `xsi:nil="true"`, and an empty element is an empty string. Default: `empty`. */
    readonly nulls?: 'empty' | 'nil';
    /** Text between elements: `ordered` keeps its place (`content_name`), `text` joins it (`text_name`). Default: `ordered`. */
    readonly mixed?: 'ordered' | 'text';
    /** JSON to XML: `escape`: names that XML does not allow are escaped (`a b` as `a_x0020_b`), and unescaped again. `refuse`: they are an error. Default: `escape`. */
    readonly invalid_names?: 'escape' | 'refuse';
  };
  /** SOAP on the XML side, if `version` is set. */
  readonly soap?: {
    /** Version of generated envelopes; both versions are read. Null: plain XML. */
    readonly version?: '1.1' | '1.2' | null;
    /** Action of requests to a SOAP backend: `SOAPAction` (1.1), `action` of the content type (1.2). */
    readonly action?: string | null;
    /** XML elements for the header of generated envelopes; `soap` is the prefix of the envelope. */
    readonly header?: string | null;
    /** HTTP statuses of faults, by their code. `Client` and `Server` of 1.1 are named `Sender` and `Receiver`. Default: `Sender` is 400, `Receiver` 500, any other 502. */
    readonly fault_statuses?: { readonly [name: string]: number } | null;
  };
}

export interface ZipkinConfig {
  /** Name of the gateway in Zipkin. Default: `kong`. */
  readonly local_service_name?: string;
  /** Full URL that spans are sent to as JSON: `http://zipkin:9411/api/v2/spans`. Null: trace headers are propagated, and no spans are sent. */
  readonly http_endpoint?: string | null;
  /** Fraction of requests that are traced, 0 to 1, if the client does not decide. Default: `0.001`. */
  readonly sample_ratio?: number | null;
  /** Name of backends whose service has no name. */
  readonly default_service_name?: string | null;
  /** Adds the id of the credential to spans, as `kong.credential`. Default: `true`. */
  readonly include_credential?: boolean;
  /** Length of new trace ids. Unit: bytes. Default: `16`. */
  readonly traceid_byte_count?: 8 | 16;
  /** Which trace headers are used. `preserve`: continues the trace of the client, in whichever format it comes, and sends the backend the same format. `ignore`: ignores the client's headers. The name of a format: as `preserve`, and the backend always receives this format. Ignored once `propagation` has one of its lists. Default: `preserve`. */
  readonly header_type?:
    | 'preserve'
    | 'ignore'
    | 'w3c'
    | 'b3'
    | 'b3-single'
    | 'jaeger'
    | 'ot'
    | 'datadog'
    | 'aws'
    | 'gcp';
  /** Format of the trace headers that the backend receives if the client sent none. Default: `b3`. */
  readonly default_header_type?: 'w3c' | 'b3' | 'b3-single' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp';
  /** Name of the header in which clients send tags for the span of a request: `name=value; other=value`. At most 32 tags, names of 128 and values of 1,024 characters. Names that the plugin itself uses, and names beginning with `kong.`, are ignored. Default: `Zipkin-Tags`. */
  readonly tags_header?: string;
  /** Tags of every request's span. */
  readonly static_tags?:
    | readonly {
        /** Name of the tag. */
        readonly name: string;
        /** Value of the tag. */
        readonly value: string;
      }[]
    | null;
  /** Format of span names: `GET`, or `GET /users/7`. Default: `method`. */
  readonly http_span_name?: 'method' | 'method_path';
  /** Timeout of connecting to the receiver. Unit: ms. Default: `2000`. */
  readonly connect_timeout?: number;
  /** Timeout of sending a message. Unit: ms. Default: `5000`. */
  readonly send_timeout?: number;
  /** Timeout of waiting for the response. Unit: ms. Default: `5000`. */
  readonly read_timeout?: number;
  /** Header of the response with the trace id, in hexadecimal. Null: none. */
  readonly http_response_header_for_traceid?: string | null;
  /** How phases are recorded: as annotations at their begin and end (`krs`, `krf`, ...), or as tags with their duration (`kong.access.duration_ms`). Default: `annotations`. */
  readonly phase_duration_flavor?: 'annotations' | 'tags';
  /** How requests are batched, kept and retried. Each worker has its own queue. */
  readonly queue?: {
    /** Maximum number of requests in one batch. Default: `1`. */
    readonly max_batch_size?: number | null;
    /** Maximum time that requests wait for the batch to fill up to `max_batch_size`. Unit: s. Default: `1`. */
    readonly max_coalescing_delay?: number | null;
    /** Maximum number of requests that each worker keeps, including those being sent. Beyond it the oldest is dropped. Default: `10000`. */
    readonly max_entries?: number | null;
    /** Maximum size of the requests that each worker keeps. Beyond it the oldest is dropped. Null: 16 MiB. Unit: bytes. */
    readonly max_bytes?: number | null;
    /** Time for which delivery of a batch is retried before it is dropped. Unit: s. Default: `60`. */
    readonly max_retry_time?: number | null;
    /** Delay before the first retry. It doubles with each further one. Unit: s. Default: `0.01`. */
    readonly initial_retry_delay?: number | null;
    /** Maximum delay between two attempts. Unit: s. Default: `60`. */
    readonly max_retry_delay?: number | null;
    /** `1`: batches are sent one after the other. `-1`: up to 32 at the same time. Default: `1`. */
    readonly concurrency_limit?: -1 | 1 | null;
  };
  /** Which trace headers are read and written. Overrides `header_type` once it has one of the three lists. */
  readonly propagation?: {
    /** Formats in which the client's trace headers are read; the first that is present counts. `b3` means both of its formats. Null, if another list is set: none. */
    readonly extract?: readonly ('w3c' | 'b3' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp')[] | null;
    /** Headers of the client that are not forwarded to the backend. */
    readonly clear?: readonly string[] | null;
    /** Formats of the headers that the backend receives. `preserve`: the format in which the trace came. Null, if another list is set: none. */
    readonly inject?:
      | readonly ('preserve' | 'w3c' | 'b3' | 'b3-single' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp')[]
      | null;
    /** Format for `preserve` if the client sent no trace headers. Default: `b3`. */
    readonly default_format?: 'w3c' | 'b3' | 'b3-single' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp';
  };
}
