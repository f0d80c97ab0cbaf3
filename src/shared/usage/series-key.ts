/** Replaces the value of everything without its own series. */
export const other = '*';

/** The labels of requests that are counted together. Ids; '' for none, `*` for all without their own series. */
export interface SeriesKey {
  readonly route: string;
  readonly service: string;
  readonly consumer: string;
  readonly version: string;
  /** Status of the response; 1 to 5 where only its first digit is kept. */
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

/** The key of requests without any series of their own. */
export function restKey(status: number): SeriesKey {
  return { route: other, service: other, consumer: other, version: '', status: statusClass(status) };
}

/** 1 to 5: the first digit. */
export function statusClass(status: number): number {
  return status < 10 ? status : Math.min(5, Math.max(1, Math.floor(status / 100)));
}
