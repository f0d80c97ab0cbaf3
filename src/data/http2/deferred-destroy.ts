import type { Http2Session } from 'node:http2';

/** `NGHTTP2_ERR_PROTO`, as Node passes it on. */
const protocolErrno = -505;

export interface DeferOptions {
  /** The number of streams that have been reset with PROTOCOL_ERROR. */
  readonly brokenStreams: () => number;
  /** The session is about to be destroyed, with all its streams. */
  readonly destroying: () => void;
  /** The session was kept, because one of its streams had been reset. */
  readonly kept: () => void;
}

/**
 * Node also destroys a session for errors of a single stream (a body longer than declared, for example), and all other
 * streams with it. This delays an error that could be of either kind until the stream it belongs to has been reset.
 */
export function deferDestroy(session: Http2Session, { brokenStreams, destroying, kept }: DeferOptions): void {
  const destroyNow = session.destroy.bind(session);
  const destroy = (error?: Error, code?: number): void => {
    destroying();
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
      else kept();
    });
  };
}
