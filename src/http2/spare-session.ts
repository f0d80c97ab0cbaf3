import type { Http2Session } from 'node:http2';

/** `NGHTTP2_ERR_PROTO`, as Node passes it on. */
const protocolErrno = -505;

export interface SpareOptions {
  /** How many streams have been reset with PROTOCOL_ERROR. */
  readonly brokenStreams: () => number;
  /** The session is about to be given up, with all its streams. */
  readonly ending: () => void;
  /** It was not, as one of its streams had been reset. */
  readonly spared: () => void;
}

/**
 * Node destroys a session for errors of single streams too (a body that is longer than declared, for one), and all the others
 * with it. An error that could be of either kind waits until the stream it belongs to has been reset.
 */
export function spareSession(session: Http2Session, { brokenStreams, ending, spared }: SpareOptions): void {
  const destroyNow = session.destroy.bind(session);
  const destroy = (error?: Error, code?: number): void => {
    ending();
    destroyNow(error, code);
  };
  session.destroy = (error?: Error, code?: number): void => {
    if ((error as { readonly errno?: number } | undefined)?.errno !== protocolErrno) {
      destroy(error, code);
      return;
    }
    const before = brokenStreams();
    setImmediate(() => {
      if (brokenStreams() === before) destroy(error, code);
      else spared();
    });
  };
}
