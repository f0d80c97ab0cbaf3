import type { BackendCall } from '../../plugin-sdk/calls.ts';
import { redacted } from '../../shared/logs/masked-arguments.ts';
import type { DryOutcome, DryRequest, DryResult, DryRunBoot, Undecided } from '../../shared/messages/dry-run.ts';
import type { RawRequest } from '../../shared/traffic/raw-request.ts';
import { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import { AddressZone, createAddressZone } from '../../shared/zones/address-zone.ts';
import { createCounters, workerCounters } from '../../shared/zones/counters.ts';
import { Answers } from '../answer/answer.ts';
import { answerPart } from '../explain/document/answer-part.ts';
import { whyOf } from '../explain/document/why.ts';
import type { DownstreamPeer } from '../request/exchange.ts';
import { Exchange } from '../request/exchange.ts';
import { RequestHandler } from '../request/handle-request.ts';
import { proxyOptions } from '../request/options.ts';
import type { LiveSnapshot } from '../snapshot/snapshot.ts';
import { NearRoutes } from '../traffic/near-routes.ts';
import { headOf } from '../traffic/raw-request.ts';
import { explainedBy } from '../traffic/record-parts.ts';
import { RecordingTrace } from '../traffic/recording-trace.ts';
import { DryBackend } from './dry-backend.ts';
import { DryClient } from './dry-client.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { outside, type PluginWatch } from './watched-plugins.ts';

export interface DryRunParts {
  readonly boot: DryRunBoot;
  readonly snapshot: LiveSnapshot;
  readonly watch: PluginWatch;
  readonly clock: VirtualClock;
}

/** Real milliseconds for which a plugin may wait. */
const maxWait = 1_000;

/** Repeats recorded requests, one after another, with the code that carries requests. No request reaches a backend. */
export class DryRun {
  readonly #parts: DryRunParts;
  readonly #handler: RequestHandler;
  readonly #backend: DryBackend;
  readonly #zone = new AddressZone(createAddressZone(1), 0);
  readonly #routes = new NearRoutes();
  #number = 0;

  constructor(parts: DryRunParts) {
    this.#parts = parts;
    const { settings } = parts.boot;
    const options = proxyOptions(settings);
    const answers = new Answers(options, (x, error) => this.#handler.unexpected(x, error));
    this.#backend = new DryBackend(answers);
    this.#handler = new RequestHandler({
      options,
      answers,
      attempts: this.#backend,
      trusted: new TrustedPeers(settings.trustedIps),
      explainer: null,
      overload: { active: false, refuse: () => false },
      counters: workerCounters(createCounters(1), 0),
      bodies: { release() {} },
      meter: { add() {} },
      usage: null,
      accessLog: null,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    this.#handler.traffic = {
      begin: (x) => {
        x.trace = new RecordingTrace(x, this.#zone, false);
      },
      finished() {},
    };
  }

  /** What would happen to the request. Requests must come in the order of their time. */
  async repeat(request: DryRequest): Promise<DryResult> {
    const { clock, watch, snapshot } = this.#parts;
    const raw = JSON.parse(request.raw) as RawRequest;
    clock.set(raw.at);
    const { promise, resolve } = Promise.withResolvers<DryResult>();
    const undecided = (reason: Undecided): void => resolve({ outcome: null, undecided: reason });
    const ended = (one: Exchange): void => {
      this.#handler.finished(one);
      resolve({ outcome: this.#outcome(one), undecided: null });
    };
    const x = new Exchange(
      new DryClient({ ended, undecided }),
      this.#peer(raw),
      headOf(raw),
      snapshot,
      request.id,
      raw.at,
      performance.now(),
    );
    x.draw = raw.draw;
    this.#backend.attempt = null;
    this.#backend.known = { raw, sentTo: request.sentTo };
    const known = raw.scheme === 'http' || raw.requested;
    watch.begin(this.#number++, known, undecided);
    this.#handler.request(x);
    const result = await this.#settled(promise, x);
    // What the request still does counts for its plugins, and for no other request.
    watch.begin(this.#number++, known, () => {});
    x.clientAborted = true;
    return result;
  }

  async #settled(promise: Promise<DryResult>, x: Exchange): Promise<DryResult> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<DryResult>((resolve) => {
      timer = setTimeout(() => {
        const plugin = x.plan.access[x.accessAt]?.name ?? null;
        resolve({ outcome: null, undecided: { reason: 'A plugin waited for too long.', plugin } });
      }, maxWait);
    });
    const result = await Promise.race([promise, late]);
    clearTimeout(timer);
    return result;
  }

  #peer(raw: RawRequest): DownstreamPeer {
    const { peerIp, peerPort, localIp, localPort, scheme, sni, trusted, tls } = raw;
    const certificates = raw.certificates?.map((text) => new Uint8Array(Buffer.from(text, 'base64'))) ?? null;
    return {
      peerIp,
      peerPort,
      localIp,
      localPort,
      scheme,
      sni,
      trusted,
      tls,
      serial: this.#number,
      clientCertificates: certificates,
      requests: 1,
      lines: '',
      linesHost: '',
      logged: null,
      recorded: null,
      calls: { call: (x, call) => this.#call(x, call) },
      bodies: null,
    };
  }

  /** A plugin calls a backend. */
  #call(_x: Exchange, { detached }: BackendCall): Promise<never> {
    if (detached !== true) this.#parts.watch.attempted(outside);
    return new Promise(() => {});
  }

  #outcome(x: Exchange): DryOutcome {
    const recorder = x.trace as RecordingTrace;
    if (recorder.wasRouted) recorder.match = this.#routes.of(x).match;
    const explained = explainedBy(x, recorder);
    const answer = answerPart(explained);
    const { attempt } = this.#backend;
    const byBackend = answer.by === 'backend';
    const unknown = byBackend && attempt !== null && attempt.status === null;
    const why = unknown ? null : whyOf(explained, answer);
    return {
      status: unknown ? null : answer.status,
      by: answer.by,
      who: byBackend ? (attempt?.backend ?? null) : answer.who,
      reason: unknown ? unknownAnswer : why === null ? null : maskedText(why.sentence),
      route: x.route === null ? null : { id: x.route.id, name: x.route.name },
      service: x.service === null ? null : { id: x.service.id, name: x.service.name },
      sentTo: attempt?.sentTo ?? null,
      readers: attempt?.readers.map(({ id }) => this.#parts.watch.fingerprint(id)).join('\n') ?? '',
      readerNames: attempt?.readers.map(({ name }) => name) ?? [],
    };
  }
}

const unknownAnswer = 'The request would reach the backend, whose answer is not known.';

/** User and password of a URL. */
const userInfo = /((?::|%3a)(?:\/|%2f){1,2})[^/?#&\s"\\]{1,256}?(@|%40)/gi;

function maskedText(text: string): string {
  return text.replace(userInfo, `$1${redacted}$2`);
}
