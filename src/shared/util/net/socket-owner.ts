/** What a connection does with the events of its socket. */
export interface SocketOwner {
  /** The bytes are valid only during the call. False: stop reading until `socket.resume()`. */
  received(bytes: Uint8Array, length: number): boolean;
  ended(): void;
  closed(): void;
  writable(): void;
}
