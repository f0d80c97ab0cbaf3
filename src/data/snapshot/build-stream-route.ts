import type { Row } from '../../shared/entities/entity.ts';
import { foreignId, shownRow, text, texts } from '../../shared/entities/row-fields.ts';
import { hasStreamProtocol } from '../../shared/plugin-plan/precedence.ts';
import { entityMark } from '../../shared/zones/worker-vitals.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { StreamAddress, StreamProtocol } from '../router/stream-router.ts';
import type { PlanSource } from './build-route.ts';
import type { BoundRoute } from './route-table.ts';
import type { RuntimeService } from './runtime.ts';
import type { RuntimeStreamRoute } from './runtime-stream.ts';

/** True for routes and plugin instances whose protocols are, at least in part, those of streams. */
export function appliesToStreams(row: Row): boolean {
  return hasStreamProtocol(texts(row, 'protocols') ?? []);
}

/** A stream route in the snapshot. Its service is replaced in place, and its plan is merged on next use. */
export class LiveStreamRoute implements RuntimeStreamRoute, BoundRoute {
  readonly id: string;
  readonly mark: number;
  readonly name: string | null;
  readonly protocols: readonly StreamProtocol[];
  readonly sources: readonly StreamAddress[] | null;
  readonly destinations: readonly StreamAddress[] | null;
  readonly snis: readonly string[] | null;
  readonly tags: readonly string[];
  readonly serviceId: string | null;
  readonly stored: Row;
  service: RuntimeService | null = null;
  inRouter = false;
  refused = false;
  readonly #plans: PlanSource;
  #plan: PluginPlan | null = null;
  #planEpoch = -1;

  constructor(row: Row, plans: PlanSource) {
    this.id = row.id;
    this.mark = entityMark(row.id);
    this.name = text(row, 'name');
    this.protocols = (texts(row, 'protocols') ?? []) as readonly StreamProtocol[];
    this.sources = addressesOf(row, 'sources');
    this.destinations = addressesOf(row, 'destinations');
    this.snis = texts(row, 'snis');
    this.tags = texts(row, 'tags') ?? [];
    this.serviceId = foreignId(row, 'service');
    this.stored = row;
    this.#plans = plans;
  }

  get row(): Readonly<Record<string, unknown>> {
    return shownRow(this.stored);
  }

  get plan(): PluginPlan {
    const { epoch, builder } = this.#plans;
    if (this.#plan === null || this.#planEpoch !== epoch.value) {
      this.#plan = builder.planFor(this.id, this.serviceId, null);
      this.#planEpoch = epoch.value;
    }
    return this.#plan;
  }
}

function addressesOf(row: Row, field: string): readonly StreamAddress[] | null {
  const value = row[field];
  if (!Array.isArray(value) || value.length === 0) return null;
  return value.map(({ ip, port }: Partial<StreamAddress>) => ({ ip: ip ?? null, port: port ?? null }));
}
