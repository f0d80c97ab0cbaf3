import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml';
import { maxDepth } from './limits.ts';
import type { Outline, Place } from './outline.ts';

/** The outline of valid YAML. A node is the index of its event. */
export function yamlOutline(text: string): Outline {
  const events = parseEvents(text, { maxDepth });
  const root = events.findIndex((event) => event.type !== EVENT_ID.DOCUMENT);
  return { root: { node: root, start: startOf(events[root]) }, children: (node) => childrenAt(text, events, node) };
}

function childrenAt(text: string, events: readonly Event[], node: number): ReadonlyMap<string | number, Place> | null {
  const type = events[node]?.type;
  if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return null;
  const children = new Map<string | number, Place>();
  let at = node + 1;
  for (let index = 0; at < events.length && events[at]?.type !== EVENT_ID.POP; index++) {
    const start = startOf(events[at]);
    let key: string | number = index;
    if (type === EVENT_ID.MAPPING) {
      const name = events[at];
      key = name?.type === EVENT_ID.SCALAR ? getScalarValue(text, name) : '';
      at = endOf(events, at);
    }
    children.set(key, { node: at, start });
    at = endOf(events, at);
  }
  return children;
}

/** The index after the value that begins here. */
function endOf(events: readonly Event[], from: number): number {
  let depth = 0;
  for (let at = from; at < events.length; at++) {
    const type = events[at]?.type;
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++;
    else if (type === EVENT_ID.POP) depth--;
    if (depth === 0) return at + 1;
  }
  return events.length;
}

function startOf(event: Event | undefined): number {
  switch (event?.type) {
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start;
    case EVENT_ID.SCALAR:
      return event.valueStart;
    case EVENT_ID.ALIAS:
      return event.anchorStart;
    default:
      return 0;
  }
}
