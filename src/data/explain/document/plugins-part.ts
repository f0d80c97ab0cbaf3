import type { TraceSpan } from '../../../plugin-sdk/trace.ts';
import { milliseconds } from '../../answer/server-timing.ts';
import type { PluginInstance } from '../../plugin-runner/plan.ts';
import type { Explained } from '../explained.ts';

interface ShownPhase {
  readonly phase: string;
  /** Milliseconds; null: it had not ended. */
  readonly ms: number | null;
  readonly decided: string;
  readonly changed: readonly string[];
}

/** Phases that are recorded. */
const recorded: ReadonlySet<string> = new Set(['rewrite', 'access', 'response', 'headerFilter']);
/** Kong's names of phases. */
export const phaseNames: Readonly<Record<string, string>> = {
  headerFilter: 'header_filter',
  bodyFilter: 'body_filter',
  backendAnswer: 'backend_answer',
  backendFailure: 'backend_failure',
  logMask: 'log_mask',
};
/** Not phases of a request. */
const notPhases: ReadonlySet<string> = new Set([
  'dispose',
  'drain',
  'accessSkipped',
  'shouldBufferResponse',
  'accept',
  'certificate',
  'streamLog',
]);

/** The plugins of the plan in their order: what each did, or why it did not run. */
export function pluginsPart(explained: Explained): readonly Readonly<Record<string, unknown>>[] {
  const { x, recorder } = explained;
  const { plan, snapshot } = x;
  const inPlan = new Set(plan.all.map(({ id }) => id));
  const ran = new Set(recorder.spans.map(({ facts }) => facts['instance']));
  // Global instances that were replaced by more specific ones after they had run.
  const before = snapshot.globalPlan.rewrite.filter(({ id }) => !inPlan.has(id) && ran.has(id));
  return [...before, ...plan.all].map((instance) => shownInstance(instance, explained));
}

function shownInstance(instance: PluginInstance, explained: Explained): Readonly<Record<string, unknown>> {
  const { x, recorder } = explained;
  const phases: ShownPhase[] = [];
  for (const [at, span] of recorder.spans.entries()) {
    if (span.kind === 'plugin' && span.facts['instance'] === instance.id) {
      phases.push(shownPhase(span, recorder.changes.get(at) ?? []));
    }
  }
  const scopes = x.snapshot.pluginScope(instance.id);
  const has = Object.entries(instance.phases)
    .filter(([name, phase]) => phase !== undefined && !notPhases.has(name))
    .map(([name]) => name);
  return {
    name: instance.name,
    id: instance.id,
    scope: scopes.length === 0 ? ['global'] : scopes,
    priority: instance.priority,
    ran: phases.length > 0,
    ...(phases.length > 0 ? {} : { because: whyNot(instance, has, explained) }),
    ms: milliseconds(phases.reduce((sum, { ms }) => sum + (ms ?? 0), 0)),
    phases,
    unrecorded_phases: has.filter((name) => !recorded.has(name)).map((name) => phaseNames[name] ?? name),
  };
}

function shownPhase({ name: _, start, end, facts }: TraceSpan, changed: readonly string[]): ShownPhase {
  const phase = String(facts['phase']);
  return {
    phase: phaseNames[phase] ?? phase,
    ms: end === 0 ? null : milliseconds(end - start),
    decided: end === 0 ? 'had not ended' : decision(String(facts['decided'] ?? '')),
    changed,
  };
}

function decision(decided: string): string {
  if (decided === '') return 'went on';
  return decided.startsWith('status ') ? `answered ${decided.slice('status '.length)}` : decided;
}

function whyNot({ phases }: PluginInstance, has: readonly string[], { x, recorder, ending }: Explained): string {
  if (has.every((name) => name === 'log')) return 'its work comes after the answer (log)';
  if (!has.some((name) => recorded.has(name))) return `it only has phases that are not recorded (${has.join(', ')})`;
  if (recorder.match === null) return 'the request was refused before it was routed';
  if (x.route === null) return 'no route matched';
  if (phases.access !== undefined) {
    const stopper = recorder.spans.findLast(
      ({ kind, facts }) => kind === 'plugin' && facts['phase'] === 'access' && facts['decided'] !== undefined,
    );
    if (stopper !== undefined) return `${stopper.name} had answered before its turn`;
    return 'the request was answered before its turn';
  }
  if (ending === 'held') return 'there was no answer: no backend was contacted';
  return 'this answer did not concern it';
}
