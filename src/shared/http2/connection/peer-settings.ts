import { initialWindow, maxFrameSize, maxWindow, ResetCode, Setting } from '../frames/codes.ts';

/** Entries of one SETTINGS frame. */
const maxEntries = 32;
const largestFrameSize = 2 ** 24 - 1;

/** What the peer has announced (RFC 9113 6.5.2). */
export class PeerSettings {
  headerTableSize = 4096;
  /** Streams that it allows at once. */
  maxConcurrentStreams: number = Number.POSITIVE_INFINITY;
  initialWindowSize: number = initialWindow;
  /** It takes extended CONNECT (RFC 8441). */
  connectProtocol = false;

  /** Applies a frame; `fromServer`: its sender is a server. Returns the code of the error that ends the connection; 0: none. */
  apply(bytes: Uint8Array, start: number, end: number, fromServer: boolean): number {
    if (end - start > 6 * maxEntries) return ResetCode.enhanceYourCalm;
    const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
    for (let at = 0; at < view.byteLength; at += 6) {
      const wrong = this.#set(view.getUint16(at), view.getUint32(at + 2), fromServer);
      if (wrong !== 0) return wrong;
    }
    return 0;
  }

  #set(id: number, value: number, fromServer: boolean): number {
    switch (id) {
      case Setting.headerTableSize:
        this.headerTableSize = value;
        return 0;
      case Setting.enablePush:
        return value > (fromServer ? 0 : 1) ? ResetCode.protocolError : 0;
      case Setting.maxConcurrentStreams:
        this.maxConcurrentStreams = value;
        return 0;
      case Setting.initialWindowSize:
        if (value > maxWindow) return ResetCode.flowControlError;
        this.initialWindowSize = value;
        return 0;
      case Setting.maxFrameSize:
        return value < maxFrameSize || value > largestFrameSize ? ResetCode.protocolError : 0;
      case Setting.enableConnectProtocol:
        // Once announced, it cannot be taken back (RFC 8441 3).
        if (value > 1 || (value === 0 && this.connectProtocol)) return ResetCode.protocolError;
        this.connectProtocol = value === 1;
        return 0;
      default:
        return 0;
    }
  }
}
