import { TraceRecorder } from '../data/answer/trace-recorder.ts';
import { parseRequestHead } from '../data/http1/parse-request.ts';
import type { ParsedRequest } from '../data/http1/parsed-request.ts';
import type { PluginPlan } from '../data/plugin-runner/plan.ts';
import type { Downstream } from '../data/request/exchange.ts';
import { type BackendCaller, type DownstreamPeer, Exchange } from '../data/request/exchange.ts';
import type { RuntimeRoute, RuntimeService, RuntimeSnapshot } from '../data/snapshot/runtime.ts';
import { normalisePath } from '../shared/http/path.ts';
import { requestId } from '../shared/util/request-ids.ts';

/** A request of a client. */
export interface TestRequest {
  /** Default: GET. */
  readonly method?: string;
  /** Path and query. Default: `/`. */
  readonly path?: string;
  /** A list is sent as several lines. Default: `Host: test.example`, which is also added if there is no `Host`. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Default: none. */
  readonly body?: string | Uint8Array;
  /** Default: 127.0.0.1. */
  readonly clientIp?: string;
  /** Default: http. */
  readonly scheme?: 'http' | 'https';
  /** Certificates that the client sends, in DER. Default: none. */
  readonly clientCertificates?: readonly Uint8Array[];
  /** False: no route matched. Default: true. */
  readonly routed?: boolean;
  /** `context.draw`. Default: random. */
  readonly draw?: number;
  /** True: the request is recorded, so there is a `context.trace`. Default: false. */
  readonly traced?: boolean;
  /** The response of the backend. Default: 200 without a body. */
  readonly backend?: TestBackend;
}

export interface TestBackend {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A list is sent piece by piece. Default: none. */
  readonly body?: string | readonly (string | Uint8Array)[];
  /** Default: none. */
  readonly trailers?: Readonly<Record<string, string | readonly string[]>>;
}

/** The exchange of a request that needs no socket. `planFor`: the plan of a consumer, by its id; default: the same one. */
export function testExchange(
  request: TestRequest,
  plan: PluginPlan,
  client: Downstream,
  planFor: (consumerId: string) => PluginPlan = () => plan,
  calls: BackendCaller | null = null,
): Exchange {
  const head = parsedHead(request);
  const snapshot = testSnapshot(plan, planFor);
  const exchange = new Exchange(
    client,
    testPeer(request, calls),
    head,
    snapshot,
    requestId(),
    Date.now(),
    performance.now(),
  );
  if (request.draw !== undefined) exchange.draw = request.draw;
  if (request.traced === true) exchange.trace = new TraceRecorder(exchange.startedAt - exchange.startedMono);
  exchange.path = normalisePath(head.rawPath) ?? head.rawPath;
  exchange.bytesReceived = bodyBytes(request).byteLength;
  if (request.routed !== false) {
    exchange.route = testRoute(plan);
    exchange.service = testService;
  }
  exchange.plan = plan;
  if (plan.requestBodyLimit > 0 && head.bodyLength > 0) exchange.requestBody = bodyBytes(request);
  return exchange;
}

/** Header lines, CRLF after each. */
export function headerLines(headers: Readonly<Record<string, string | readonly string[]>>): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === 'string' ? [value] : value) lines += `${name}: ${one}\r\n`;
  }
  return lines;
}

function parsedHead(request: TestRequest): ParsedRequest {
  const { method = 'GET', path = '/', headers = {} } = request;
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const host = names.includes('host') ? '' : 'Host: test.example\r\n';
  const size = bodyBytes(request).byteLength;
  const length = size > 0 ? `Content-Length: ${size}\r\n` : '';
  const head = parseRequestHead(`${method} ${path} HTTP/1.1\r\n${host}${headerLines(headers)}${length}\r\n`);
  if ('code' in head) throw new Error(`this is not a valid request: ${head.message}`);
  return head;
}

function bodyBytes({ body = '' }: TestRequest): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function testPeer(
  { clientIp = '127.0.0.1', scheme = 'http', clientCertificates }: TestRequest,
  calls: BackendCaller | null,
): DownstreamPeer {
  return {
    peerIp: clientIp,
    peerPort: 50000,
    localIp: '127.0.0.1',
    localPort: scheme === 'http' ? 8000 : 8443,
    scheme,
    sni: scheme === 'http' ? '' : 'test.example',
    trusted: false,
    serial: 1,
    tls: scheme === 'http' ? null : { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    clientCertificates: clientCertificates ?? null,
    requests: 1,
    lines: '',
    linesHost: '',
    logged: null,
    recorded: null,
    calls,
    bodies: null,
  };
}

function testSnapshot(plan: PluginPlan, planFor: (consumerId: string) => PluginPlan): RuntimeSnapshot {
  const router = { upsert() {}, remove() {}, size: 0, match: () => false };
  return {
    version: 1,
    router,
    globalPlan: plan,
    tracing: null,
    planFor: (_, id) => planFor(id),
    certificateFor: () => null,
    upstream: () => null,
    service: () => null,
    wantsClientCertificates: false,
    choosesByKeyType: false,
    ocspResponse: () => null,
    routesByServerName: false,
    explainRoute: () => ({ matched: null, others: [], routes: 0, disabled: [] }),
    pluginScope: () => [],
  };
}

const testTarget = {
  id: '7f6b8c1e-0000-4000-8000-000000000003',
  host: '127.0.0.1',
  ip: '127.0.0.1',
  port: 9000,
  weight: 100,
  slot: 0,
};

export const testService: RuntimeService = {
  id: '7f6b8c1e-0000-4000-8000-000000000002',
  name: 'test-service',
  protocol: 'http',
  http2: false,
  host: '127.0.0.1',
  port: 9000,
  path: null,
  retries: 5,
  timeouts: { connect: 60_000, send: 60_000, firstByte: 60_000, idle: 60_000, total: 0 },
  tags: [],
  upstream: null,
  target: testTarget,
  hostHeader: '127.0.0.1:9000',
  tls: null,
  row: { id: '7f6b8c1e-0000-4000-8000-000000000002', name: 'test-service', host: '127.0.0.1', path: null },
};

function testRoute(plan: PluginPlan): RuntimeRoute {
  const id = '7f6b8c1e-0000-4000-8000-000000000001';
  return {
    id,
    mark: 1,
    name: 'test-route',
    methods: null,
    hosts: null,
    paths: ['/'],
    headers: null,
    snis: null,
    regexPriority: 0,
    service: testService,
    httpsOnly: false,
    grpc: false,
    httpsRedirectStatusCode: 426,
    stripPath: true,
    preserveHost: false,
    tags: [],
    plan,
    row: { id, name: 'test-route', paths: ['/'], hosts: null },
  };
}
