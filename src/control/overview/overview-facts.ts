import type { OpenCircuit } from '../../plugin-sdk/background.ts';
import type { ExpiringCertificate } from './expiring-certificates.ts';
import type { FailingTarget } from './failing-targets.ts';
import type { LimitHit } from './limit-hits.ts';
import type { LogProblems } from './log-problems.ts';
import type { SecondRing } from './second-ring.ts';

/** What `GET /overview` shows of this node, next to the other facts of the Admin API. */
export interface OverviewFacts {
  readonly seconds: Pick<SecondRing, 'last' | 'onSecond'>;
  readonly problems: Pick<LogProblems, 'total' | 'lastHour' | 'list'>;
  readonly limitHits: () => readonly LimitHit[];
  readonly certificates: () => Promise<readonly ExpiringCertificate[]>;
  readonly failingTargets: () => readonly FailingTarget[];
  readonly circuits: () => readonly NodeCircuit[];
  readonly workers: () => WorkersFacts;
  readonly descriptors: () => {
    /** Null: not known. */
    readonly open: number | null;
    readonly limit: number | null;
    readonly exhaustions: number;
  };
  /** Version of the config that the workers were sent. */
  readonly configVersion: () => number;
  /** When the process began, milliseconds since the epoch. */
  readonly startedAt: number;
}

/** A circuit that is not closed, and the address that it protects. */
export interface NodeCircuit extends OpenCircuit {
  readonly plugin: string;
  /** Null: it protects no target. */
  readonly address: Pick<FailingTarget, 'upstream' | 'target'> | null;
}

export interface WorkersFacts {
  readonly wanted: number;
  /** Workers that ended and were replaced since the start; `stuck`: of these, that did not respond or whose heap stayed full. */
  readonly restarts: number;
  readonly stuck: number;
  readonly list: readonly WorkerFacts[];
}

export interface WorkerFacts {
  readonly worker: number;
  readonly state: 'absent' | 'starting' | 'listening' | 'stuck';
  /** Milliseconds: 99th percentile of the last 5 s. */
  readonly loopDelay: number;
  /** Bytes. */
  readonly heapUsed: number;
}
