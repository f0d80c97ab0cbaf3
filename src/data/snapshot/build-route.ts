import type { Row } from '../../shared/entities/entity.ts';
import { flag, foreignId, number, shownRow, text, texts } from '../../shared/entities/row-fields.ts';
import { entityMark } from '../../shared/zones/worker-vitals.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { PlanBuilder } from '../plugin-runner/plan-builder.ts';
import type { BoundRoute } from './route-table.ts';
import type { RuntimeRoute, RuntimeService } from './runtime.ts';

/** Counts the changes after which merged plans may be different. Shared by all routes of a snapshot. */
export interface PlanEpoch {
  value: number;
}

/** Where routes get their plans from. */
export interface PlanSource {
  readonly epoch: PlanEpoch;
  readonly builder: PlanBuilder;
}

/** A route in the snapshot. Its service is replaced in place, and its plan is merged on next use. */
export class LiveRoute implements RuntimeRoute, BoundRoute {
  readonly id: string;
  readonly mark: number;
  readonly name: string | null;
  readonly methods: readonly string[] | null;
  readonly hosts: readonly string[] | null;
  readonly paths: readonly string[] | null;
  readonly headers: Readonly<Record<string, readonly string[]>> | null;
  readonly snis: readonly string[] | null;
  readonly regexPriority: number;
  readonly httpsOnly: boolean;
  readonly grpc: boolean;
  readonly httpsRedirectStatusCode: number;
  readonly stripPath: boolean;
  readonly preserveHost: boolean;
  readonly tags: readonly string[];
  readonly serviceId: string | null;
  readonly stored: Row;
  service: RuntimeService | null = null;
  inRouter = false;
  refused = false;
  readonly #plans: PlanSource;
  readonly #epoch: PlanEpoch;
  #plan: PluginPlan | null = null;
  #planEpoch = -1;

  constructor(row: Row, plans: PlanSource) {
    const protocols = texts(row, 'protocols') ?? ['http', 'https'];
    this.id = row.id;
    this.mark = entityMark(row.id);
    this.name = text(row, 'name');
    this.methods = texts(row, 'methods');
    this.hosts = texts(row, 'hosts');
    this.paths = texts(row, 'paths');
    this.headers = headersOf(row);
    this.snis = texts(row, 'snis');
    this.regexPriority = number(row, 'regex_priority', 0);
    this.grpc = protocols.includes('grpc') || protocols.includes('grpcs');
    this.httpsOnly = !protocols.includes('http') && !protocols.includes('grpc');
    this.httpsRedirectStatusCode = number(row, 'https_redirect_status_code', 426);
    this.stripPath = flag(row, 'strip_path', !this.grpc);
    this.preserveHost = flag(row, 'preserve_host', false);
    this.tags = texts(row, 'tags') ?? [];
    this.serviceId = foreignId(row, 'service');
    this.stored = row;
    this.#plans = plans;
    this.#epoch = plans.epoch;
  }

  get row(): Readonly<Record<string, unknown>> {
    return shownRow(this.stored);
  }

  /** On every request: one load and one comparison, so that an edit of a global plugin touches no route. */
  get plan(): PluginPlan {
    if (this.#planEpoch === this.#epoch.value) return this.#plan!;
    return this.#mergePlan();
  }

  #mergePlan(): PluginPlan {
    this.#plan = this.#plans.builder.planFor(this.id, this.serviceId, null);
    this.#planEpoch = this.#epoch.value;
    return this.#plan;
  }
}

const httpProtocols: ReadonlySet<string> = new Set(['http', 'https', 'grpc', 'grpcs']);

/** False for routes of streams (build-stream-route.ts). */
export function isHttpRoute(row: Row): boolean {
  return (texts(row, 'protocols') ?? ['http']).some((protocol) => httpProtocols.has(protocol));
}

function headersOf(row: Row): Readonly<Record<string, readonly string[]>> | null {
  const value = row['headers'];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.keys(value).length === 0 ? null : (value as Readonly<Record<string, readonly string[]>>);
}
