import { constants } from './constants.ts';

/** How many nodes carry so many cores of traffic. Two at least, so that one can fail. */
export function nodesFor(cores: number): number {
  return Math.max(2, Math.ceil(cores / constants.targetBusy.value / constants.nodeCores.value));
}

/** Traffic in cores at a minute of the day: one core at four in the morning, a thousand at 16:00, and a sudden peak at noon. */
export function demandAt(minute: number): number {
  const phase = (1 - Math.cos((2 * Math.PI * (minute - 240)) / 1440)) / 2;
  const sincePeak = minute - 720;
  const peak = sincePeak < 0 || sincePeak > 20 ? 1 : sincePeak < 2 ? 1 + sincePeak * 0.75 : 2.5;
  return Math.min(1000, 10 ** (3 * phase) * peak);
}

export interface Minute {
  readonly minute: number;
  readonly demand: number;
  readonly nodes: number;
  /** Fraction of the time that the workers are busy; above 1 requests wait or are shed. */
  readonly busy: number;
}

/** Minutes of lower demand before nodes are removed. */
const scaleDownAfter = 5;

/**
 * A day of a scaler that looks each minute at how busy the workers are. It at most doubles the nodes at once, and removes some after
 * five minutes of lower demand, as the HorizontalPodAutoscaler of the chart does.
 */
export function simulateDay(): readonly Minute[] {
  const { nodeCores, targetBusy, startTime } = constants;
  const minutes: Minute[] = [];
  const desires: number[] = [];
  const wanted: number[] = [];
  let nodes = nodesFor(demandAt(0));
  for (let minute = 0; minute < 1440; minute++) {
    // Nodes that were wanted a while ago are ready now.
    const ready = wanted[minute - startTime.value] ?? nodes;
    nodes = ready;
    const demand = demandAt(minute);
    const busy = demand / (nodes * nodeCores.value);
    // A worker that is busy all the time does not show how much more there is.
    const seen = Math.min(1, busy);
    const desired = Math.max(2, Math.min(nodes * 2 + 4, Math.ceil((nodes * seen) / targetBusy.value)));
    desires.push(desired);
    wanted.push(desired >= nodes ? desired : Math.min(nodes, Math.max(...desires.slice(-scaleDownAfter))));
    minutes.push({ minute, demand, nodes, busy });
  }
  return minutes;
}
