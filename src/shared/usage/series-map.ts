import { keyText, other, readKey, restKey } from './series-key.ts';

/** Maximum share of all series for single consumers: however many there are, routes are still separated. */
const shareOfConsumers = 0.25;

/** A value for each series, by the text of its key. */
export class SeriesMap<T> extends Map<string, T> {
  /** The number of those for a single consumer. */
  #consumers = 0;

  override set(text: string, value: T): this {
    if (!this.has(text) && isOfOne(text)) this.#consumers++;
    return super.set(text, value);
  }

  override delete(text: string): boolean {
    const deleted = super.delete(text);
    if (deleted && isOfOne(text)) this.#consumers--;
    return deleted;
  }

  override clear(): void {
    this.#consumers = 0;
    super.clear();
  }

  /** No further consumer gets its own series. `limit`: maximum number of series. */
  isFullOfConsumers(limit: number): boolean {
    return this.#consumers >= limit * shareOfConsumers || this.size >= limit;
  }

  /**
   * The key to count under, so that there are never more than `limit` series and the five of `restKey`: consumers are
   * merged first; when that is not enough, only the first digit of the status is kept.
   */
  placeWithin(text: string, limit: number): string {
    if (this.has(text)) return text;
    const key = readKey(text);
    const isOne = key.consumer !== '' && key.consumer !== other;
    if (this.size < limit && !(isOne && this.isFullOfConsumers(limit))) return text;
    const together = isOne ? keyText({ ...key, consumer: other }) : text;
    if (this.size < limit || this.has(together)) return together;
    return keyText(restKey(key.status));
  }
}

function isOfOne(text: string): boolean {
  const { consumer } = readKey(text);
  return consumer !== '' && consumer !== other;
}
