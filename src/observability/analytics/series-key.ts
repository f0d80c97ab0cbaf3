/** Stands for everything that found no place of its own. */
export const other = '*';

/** What requests that are counted together have in common. Ids; '' for none, `*` for all that found no place. */
export interface SeriesKey {
  readonly route: string;
  readonly service: string;
  readonly consumer: string;
  readonly version: string;
  /** Status of the answer; 1 to 5 where only its first digit is known. */
  readonly status: number;
}

const separator = '\0';

export function keyText({ route, service, consumer, version, status }: SeriesKey): string {
  return [route, service, consumer, version, status].join(separator);
}

export function readKey(text: string): SeriesKey {
  const [route = '', service = '', consumer = '', version = '', status = ''] = text.split(separator);
  return { route, service, consumer, version, status: Number(status) };
}

/** Kept free of consumers, so that however many there are, routes go on to be told apart. */
const shareOfConsumers = 0.75;

/** There is no more room for single consumers. */
export function isFull(used: number, limit: number): boolean {
  return used >= limit * shareOfConsumers;
}

/** The key of what finds no place at all. */
export function restKey(status: number): SeriesKey {
  return { route: other, service: other, consumer: other, version: '', status: statusClass(status) };
}

/** 1 to 5: the first digit. */
export function statusClass(status: number): number {
  return status < 10 ? status : Math.min(5, Math.max(1, Math.floor(status / 100)));
}

/**
 * The key among `counts` that something is counted under, so that there are never more than `limit` of them and the five of `restKey`:
 * consumers are put together first; when that is not enough, all but the first digit of the status is given up.
 */
export function placeWithin(counts: ReadonlyMap<string, unknown>, text: string, limit: number): string {
  const { size } = counts;
  if (!isFull(size, limit) || counts.has(text)) return text;
  const key = readKey(text);
  const together = key.consumer === '' ? text : keyText({ ...key, consumer: other });
  if (size < limit || counts.has(together)) return together;
  return keyText(restKey(key.status));
}
