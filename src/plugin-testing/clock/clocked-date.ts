/** `Date` whose current time is that of `clock`, where it returns one (milliseconds since the epoch). */
export function clockedDate(real: DateConstructor, clock: () => number | null): DateConstructor {
  const now = (): number => clock() ?? real.now();
  return new Proxy(real, {
    construct(target, given, newTarget) {
      const time = given.length === 0 ? clock() : null;
      return Reflect.construct(target, time === null ? given : [time], newTarget);
    },
    apply(target) {
      const time = clock();
      return time === null ? target() : new target(time).toString();
    },
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
