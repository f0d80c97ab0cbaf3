/** What the suite's runner uses of the library, which brings no types. */
declare module 'http-cache-tests/tests/*' {
  const suites: readonly import('./suite-types.ts').TestSuite[];
  export default suites;
}

declare module 'http-cache-tests/client/runner.mjs' {
  export function runTests(
    suites: readonly import('./suite-types.ts').TestSuite[],
    fetch: unknown,
    isBrowser: boolean,
    baseUrl: string,
    chunkSize?: number,
  ): Promise<void>;
  export function getResults(): Readonly<Record<string, import('./suite-types.ts').RawResult>>;
}

declare module 'http-cache-tests/server/*' {
  const handle: (
    segments: readonly string[],
    request: import('node:http').IncomingMessage,
    response: import('node:http').ServerResponse,
  ) => void;
  export default handle;
}
