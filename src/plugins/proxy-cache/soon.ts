/** There now, or later: stores in memory answer at once, and a hit there costs no promise. */
export type Soon<T> = T | Promise<T>;

export function soon<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
