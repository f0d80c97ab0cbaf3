/** What a promise gives within so many milliseconds, or the result of `late`; what it gives afterwards is dropped. */
export async function within<T>(work: Promise<T>, milliseconds: number, late: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    try {
      resolve(late());
    } catch (error) {
      reject(error);
    }
  }, milliseconds);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
