import type { TrafficDesk } from '../../../traffic/traffic-desk.ts';
import type { AdminDependencies } from '../../contract.ts';
import { durationParameter, EventStreams } from '../../events/event-streams.ts';
import { eventText } from '../../events/event-text.ts';
import type { AdminRequest, Answer } from '../../http/admin-route.ts';
import { bodiesParameter, readBodies } from './recorded-bodies.ts';
import { filterParameters, readTrafficRequest } from './traffic-request.ts';

/** Maximum live tails at once. */
const maxTails = 16;

/** `GET /traffic/live`: records as they arrive. */
export class LiveTraffic {
  readonly #desk: TrafficDesk;
  readonly #streams: EventStreams;

  constructor(desk: TrafficDesk, { closing }: Pick<AdminDependencies, 'closing'>) {
    this.#desk = desk;
    this.#streams = new EventStreams({ maxViewers: maxTails, maxQueued: 1_048_576, closing });
  }

  open(request: AdminRequest): Answer {
    const { filter } = readTrafficRequest(request.query, filterParameters, [
      durationParameter.name,
      bodiesParameter.name,
    ]);
    const bodies = readBodies(request);
    return this.#streams.open(request, (viewer) =>
      this.#desk.tail(filter, bodies, {
        record: (text) => viewer.send(`event: request\ndata: ${text}\n\n`),
        rate: (rate) => viewer.send(eventText('rate', rate)),
      }),
    );
  }
}
