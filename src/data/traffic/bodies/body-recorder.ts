import { headerValues } from '../../../shared/http/header-block.ts';
import { SecretFields } from '../../../shared/logs/credentials/secret-names.ts';
import type { RecordedBodies, RecordedBody } from '../../../shared/traffic/traffic-record.ts';
import { awaitWithTimeout } from '../../../shared/util/time/await-with-timeout.ts';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { sentBlock } from '../../answer/response-head.ts';
import type { PluginPlan } from '../../plugin-runner/plan.ts';
import type { Exchange } from '../../request/exchange.ts';
import { TimeBudget } from '../time-budget.ts';
import { type BodyCopy, CopyMemory } from './body-copy.ts';
import { CopyingDownstream } from './copying-downstream.ts';
import { ownSecrets } from './own-secrets.ts';
import { type BodyMasking, type CopiedBody, reasons, shownBody } from './shown-body.ts';

/** Bytes of all copies of a worker. */
const maxMemory = 8_388_608;
/** Records whose bodies wait to be masked. */
const maxWaiting = 100;
/** Milliseconds for one body. */
const maxTime = 2_000;
/** Milliseconds of masking at once and per second. */
const maxWork = 250;
const workRate = 50;
/** Milliseconds after which an exchange gives up its copies when others need the memory: a stream may last for days. */
const patience = 10_000;

const lackReasons: ReadonlySet<string | undefined> = new Set([reasons.memory, reasons.busy, reasons.slow]);

/** Copies the bodies of recorded requests, and masks them after the answer, one request after the other. */
export class BodyRecorder {
  readonly #limit: number;
  readonly #memory = new CopyMemory(maxMemory);
  readonly #open = new Map<Exchange, CopyingDownstream>();
  readonly #budget = new TimeBudget(maxWork, workRate);
  readonly #fields = new WeakMap<PluginPlan, SecretFields>();
  #waiting = 0;
  #dropped = 0;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** `limit`: bytes of each body. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that copies occupy. */
  get memoryUsed(): number {
    return this.#memory.used;
  }

  /** Bodies that were left out since the last call, for lack of memory or time. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** A request begins that will be recorded. A change of protocol has no bodies. */
  begin(x: Exchange): void {
    if (x.head.upgrade !== '') return;
    this.#makeRoom();
    const copying = new CopyingDownstream(x.downstream, x.startedMono, this.#limit, this.#memory);
    x.downstream = copying;
    this.#open.set(x, copying);
  }

  /** The exchange has ended: its bodies, as JSON; null: they were not copied. `recorded`: false when they are not needed. */
  finished(x: Exchange, recorded: boolean): Promise<string> | null {
    const copying = this.#open.get(x);
    if (copying === undefined) return null;
    this.#open.delete(x);
    if (!recorded || this.#closed) {
      copying.release();
      return null;
    }
    const { plan, head } = x;
    const request = copied(copying.request, head.block);
    const response = copied(copying.response, copying.response === null ? '' : sentBlock(x));
    if (this.#waiting >= maxWaiting) {
      copying.release();
      const busy: RecordedBodies = { request: leftOut(request), response: leftOut(response) };
      this.#countDropped(busy);
      return Promise.resolve(JSON.stringify(busy));
    }
    this.#waiting++;
    const masking: BodyMasking = {
      masks: plan.logMasks,
      secrets: this.#fieldsOf(plan),
      values: ownSecrets(x),
      budget: this.#budget,
    };
    const shown = this.#last.then(async () => {
      const bodies: RecordedBodies = {
        request: await this.#show(request, masking),
        response: await this.#show(response, masking),
      };
      copying.release();
      this.#waiting--;
      this.#countDropped(bodies);
      return JSON.stringify(bodies);
    });
    this.#last = shown;
    return shown;
  }

  /** Copies nothing more. */
  close(): void {
    this.#closed = true;
    for (const copying of this.#open.values()) copying.release();
    this.#open.clear();
  }

  /** Never rejects. */
  async #show(body: CopiedBody | null, masking: BodyMasking): Promise<RecordedBody | null> {
    if (body === null) return null;
    const began = shownBody(body, masking, this.#limit);
    const done = await awaitWithTimeout(began, maxTime);
    if (!done) return leftOut(body, reasons.slow);
    return began.catch(() => leftOut(body, reasons.failed));
  }

  #countDropped({ request, response }: RecordedBodies): void {
    for (const body of [request, response]) if (lackReasons.has(body?.reason)) this.#dropped++;
  }

  #fieldsOf(plan: PluginPlan): SecretFields {
    let fields = this.#fields.get(plan);
    if (fields === undefined) {
      fields = new SecretFields(new Set([...plan.secretArguments, ...plan.secretHeaders]));
      this.#fields.set(plan, fields);
    }
    return fields;
  }

  /** Takes their copies from exchanges that have lasted long, when most of the memory is used. */
  #makeRoom(): void {
    if (this.#memory.used < maxMemory / 2) return;
    const now = monotonic();
    for (const [x, copying] of this.#open) {
      if (now - copying.startedMono < patience) return;
      copying.release();
      this.#open.delete(x);
    }
  }
}

function copied(copy: BodyCopy | null, block: string): CopiedBody | null {
  if (copy === null || (copy.bytes === 0 && copy.complete)) return null;
  return {
    copy: copy.lost ? null : copy.take(),
    isCut: copy.isCut,
    bytes: copy.bytes,
    contentTypes: headerValues(block, 'content-type'),
    contentEncodings: headerValues(block, 'content-encoding'),
  };
}

function leftOut(body: CopiedBody, reason?: string): RecordedBody;
function leftOut(body: CopiedBody | null, reason?: string): RecordedBody | null;
function leftOut(body: CopiedBody | null, reason: string = reasons.busy): RecordedBody | null {
  return body === null ? null : { media_type: null, bytes: body.bytes, truncated: true, reason };
}
