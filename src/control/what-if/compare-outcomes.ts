import type { DryOutcome, DryResult, Undecided } from '../../shared/messages/dry-run.ts';
import type { NamedEntity, TrafficEntry } from '../../shared/traffic/traffic-record.ts';

/** An outcome as the answer shows it. */
export interface ShownOutcome {
  readonly status: number | null;
  readonly by: DryOutcome['by'];
  readonly who: string | null;
  readonly route: NamedEntity | null;
  readonly service: NamedEntity | null;
}

export interface OutcomeGroup {
  readonly before: ShownOutcome;
  readonly after: ShownOutcome & { readonly reason: string | null };
  readonly count: number;
  /** Ids of requests. */
  readonly examples: readonly string[];
}

export interface UndecidedGroup extends Undecided {
  readonly count: number;
}

export interface Comparison {
  readonly replayed: number;
  readonly refused: number;
  readonly admitted: number;
  readonly rerouted: number;
  readonly changed: number;
  readonly groups: readonly OutcomeGroup[];
  readonly undecided: readonly UndecidedGroup[];
}

/** A request and what the two dry runs say. */
export interface ComparedRequest {
  readonly entry: TrafficEntry;
  readonly before: DryResult;
  readonly after: DryResult;
}

/** Groups in an answer; the largest are shown. */
const maxGroups = 100;
const maxExamples = 5;
/** nginx's status for a client that closed the connection before the response. */
const clientClosedRequest = 499;

/** Counts what would be different, and groups it by what happened before and what would happen. */
export function compareOutcomes(requests: readonly ComparedRequest[]): Comparison {
  const groups = new Map<string, { group: OutcomeGroup; examples: string[]; count: number }>();
  const undecided = new Map<string, { reason: Undecided; count: number }>();
  const counts = { refused: 0, admitted: 0, rerouted: 0, changed: 0 };
  for (const { entry, before, after } of requests) {
    const doubt = doubtOf(entry, before, after);
    if (doubt !== null) {
      const key = JSON.stringify([doubt.reason, doubt.plugin]);
      const known = undecided.get(key) ?? { reason: doubt, count: 0 };
      known.count++;
      undecided.set(key, known);
      continue;
    }
    const [was, is] = [before.outcome as DryOutcome, after.outcome as DryOutcome];
    if (isSame(was, is)) continue;
    counts.changed++;
    if (!isRefused(was) && isRefused(is)) counts.refused++;
    else if (isRefused(was) && !isRefused(is)) counts.admitted++;
    else if (!isRefused(was) && isRerouted(was, is)) counts.rerouted++;
    const key = JSON.stringify([shown(was), shown(is)]);
    const group = groups.get(key) ?? {
      group: { before: shown(was), after: { ...shown(is), reason: is.reason }, count: 0, examples: [] },
      examples: [],
      count: 0,
    };
    group.count++;
    if (group.examples.length < maxExamples) group.examples.push(entry.id);
    groups.set(key, group);
  }
  return {
    replayed: requests.length,
    ...counts,
    groups: [...groups.values()]
      .sort((a, b) => b.count - a.count)
      .slice(0, maxGroups)
      .map(({ group, count, examples }) => ({ ...group, count, examples })),
    undecided: [...undecided.values()]
      .sort((a, b) => b.count - a.count)
      .slice(0, maxGroups)
      .map(({ reason, count }) => ({ ...reason, count })),
  };
}

/** Why nothing can be said about a request; null: something can. */
function doubtOf(entry: TrafficEntry, before: DryResult, after: DryResult): Undecided | null {
  if (entry.status === clientClosedRequest)
    return { reason: 'The client disconnected before it was answered.', plugin: null };
  if (before.undecided !== null) return before.undecided;
  if (classOf(before.outcome.status) !== classOf(entry.status)) {
    return { reason: differentlyRecorded, plugin: pluginOf(before.outcome) ?? recordedPlugin(entry) };
  }
  if (after.undecided !== null) return after.undecided;
  const [was, is] = [before.outcome, after.outcome];
  if (was.readers !== is.readers && isAnswered(was) && isAnswered(is)) {
    const plugin = [...is.readerNames, ...was.readerNames][0] ?? null;
    return { reason: 'It depends on the body of the answer, which is not recorded.', plugin };
  }
  return null;
}

const differentlyRecorded =
  'With the present config the request has another result than the recorded one: it depends on requests that are not kept, ' +
  'or the config has changed since.';

function classOf(status: number | null): number {
  return status === null ? 0 : Math.floor(status / 100);
}

function pluginOf({ by, who }: DryOutcome): string | null {
  return by === 'plugin' ? who : null;
}

function recordedPlugin({ by, who }: TrafficEntry): string | null {
  return by === 'plugin' ? who : null;
}

function isAnswered({ sentTo }: DryOutcome): boolean {
  return sentTo !== null;
}

const firstError = 400;

/** The gateway or a plugin refuses it. */
function isRefused({ by, status }: DryOutcome): boolean {
  return by !== 'backend' && status !== null && status >= firstError;
}

function isRerouted(was: DryOutcome, is: DryOutcome): boolean {
  return was.route?.id !== is.route?.id || was.service?.id !== is.service?.id || was.sentTo !== is.sentTo;
}

function isSame(was: DryOutcome, is: DryOutcome): boolean {
  return (
    was.status === is.status &&
    was.by === is.by &&
    was.who === is.who &&
    was.sentTo === is.sentTo &&
    was.route?.id === is.route?.id &&
    was.service?.id === is.service?.id
  );
}

function shown({ status, by, who, route, service }: DryOutcome): ShownOutcome {
  return { status, by, who, route, service };
}
