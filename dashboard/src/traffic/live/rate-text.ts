import { countText } from '../format.ts';
import type { TrafficRate } from '../records.ts';

/** Which part of the requests is shown, in words. */
export function rateText({ seen, sampled }: TrafficRate): string {
  if (seen === 0) return 'No requests in the last second';
  const requests = `${countText(seen)} ${seen === 1 ? 'request' : 'requests'} per second`;
  return sampled < seen ? `Showing ${countText(sampled)} of ${requests}` : `Showing all of ${requests}`;
}

/** '' when nothing was lost. */
export function droppedText(dropped: number): string {
  if (dropped === 0) return '';
  const records = dropped === 1 ? '1 record was' : `${countText(dropped)} records were`;
  return `${records} dropped, because the gateway or the network was behind`;
}
