import type { TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import { type Look, painted, piece } from '../explain/layout.ts';

/** Widths of the columns; a longer text moves the rest of its line. */
const widths = { method: 5, path: 32, duration: 10, client: 15, route: 16, consumer: 10 };

/** A request on one line. What clients sent cannot control the terminal. */
export function trafficLine(entry: TrafficEntry, colours: boolean): string {
  const { at, status, method, path, duration, client, route, consumer } = entry;
  const columns = [
    piece(at.slice(11, 23), 'dim'),
    piece(String(status), lookOf(status)),
    piece(method.padEnd(widths.method)),
    piece(path.padEnd(widths.path), 'strong'),
    piece(`${duration.toFixed(1)} ms`.padStart(widths.duration)),
    piece(client.padEnd(widths.client)),
    piece((route?.name ?? route?.id ?? '-').padEnd(widths.route)),
    piece((consumer?.username ?? consumer?.custom_id ?? consumer?.id ?? '-').padEnd(widths.consumer)),
    piece(answerer(entry)),
  ];
  return columns.map((column) => painted(column, colours)).join('  ');
}

function answerer({ by, who, reason }: TrafficEntry): string {
  return `${by}${who === null ? '' : ` ${who}`}${reason === null ? '' : `: ${reason}`}`;
}

function lookOf(status: number): Look {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warning' : 'good';
}
