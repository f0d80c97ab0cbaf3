/** Returns a function that runs asynchronous operations one after another, in the order in which it was called. */
export function createSerialQueue(): <T>(operation: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (operation) => {
    const run = last.then(operation);
    last = run.catch(() => undefined);
    return run;
  };
}
