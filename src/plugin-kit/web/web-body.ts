/**
 * The body of a view, read when it is asked for. A `Response` of the platform does the reading, so that `bodyUsed`, `json`,
 * `formData` and their errors are exactly those of the standard. It is made at the first use.
 */
export class WebBody {
  readonly #read: (() => Promise<Uint8Array>) | null;
  readonly #contentType: () => string | null;
  #holder: Response | null = null;

  /** `read`: null for no body. */
  constructor(read: (() => Promise<Uint8Array>) | null, contentType: () => string | null) {
    this.#read = read;
    this.#contentType = contentType;
  }

  get isUsed(): boolean {
    return this.#holder?.bodyUsed ?? false;
  }

  get holder(): Response {
    if (this.#holder === null) {
      const type = this.#contentType();
      const body = this.#read === null ? null : lazyStream(this.#read);
      this.#holder = new Response(body, type === null ? {} : { headers: { 'Content-Type': type } });
    }
    return this.#holder;
  }
}

/** Reads nothing before somebody reads from it. The piece is a copy: who reads it may change it. */
function lazyStream(read: () => Promise<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await read();
        if (bytes.byteLength > 0) controller.enqueue(new Uint8Array(bytes));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
