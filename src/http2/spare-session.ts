import type { Http2Session } from 'node:http2';

/** `NGHTTP2_ERR_PROTO`, as Node passes it on. */
const protocolErrno = -505;

/**
 * Node destroys a session for errors of single streams too (a body that is longer than declared, for one), and all the others
 * with it. An error that could be of either kind waits until the stream it belongs to has been reset. `brokenStreams`: how many
 * streams have been reset with PROTOCOL_ERROR.
 */
export function spareSession(session: Http2Session, brokenStreams: () => number): void {
  const destroy = session.destroy.bind(session);
  session.destroy = (error?: Error, code?: number): void => {
    if ((error as { readonly errno?: number } | undefined)?.errno !== protocolErrno) {
      destroy(error, code);
      return;
    }
    const before = brokenStreams();
    setImmediate(() => {
      if (brokenStreams() === before) destroy(error, code);
    });
  };
}
