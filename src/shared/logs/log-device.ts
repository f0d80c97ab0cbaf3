import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  type Stats,
  stat as statFile,
  write as writeFile,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { makeFolder } from '../util/files/make-folder.ts';

/** The target of a log. No method ever blocks on a reader that does not read. */
export interface LogDevice {
  /** Resolves to the number of bytes accepted from `offset` on: 0 when it accepts none now, -1 when it is broken. */
  write(bytes: Buffer, offset: number): Promise<number>;
  /** Writes synchronously, as far as the target allows; false when it did not accept all. */
  writeNow(bytes: Buffer): boolean;
  /** Why it accepted nothing the last time; '' when nothing failed. */
  readonly failure: string;
  /** A regular file: others may write to it as well, and their lines may follow what was cut off here. */
  readonly isFile: boolean;
  /** Whether the path is now another file, or none. */
  hasMoved(path: string): Promise<boolean>;
  close(): void;
}

export interface DeviceOptions {
  /** Creates missing folders. Default true. */
  readonly makeFolder?: boolean;
  /** Permissions of a new file, before the umask. Default 0640. */
  readonly mode?: number;
}

const standardStreams: Readonly<Record<string, 1 | 2>> = { '/dev/stdout': 1, '/dev/stderr': 2 };

/**
 * Opens the target. `O_NONBLOCK` changes nothing for files; it keeps a named pipe without a reader from blocking the
 * thread. Throws when it cannot be opened.
 */
export function openDevice(target: string, options: DeviceOptions = {}): LogDevice {
  const standard = standardStreams[target];
  if (standard !== undefined) return openStandardStream(standard);
  const fd = openForAppend(target, options);
  const stats = fstatSync(fd);
  return stats.isFile() ? new FileDevice(fd, true, stats) : new PipeDevice(fd);
}

function openForAppend(path: string, { makeFolder: makes = true, mode = 0o640 }: DeviceOptions): number {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  try {
    return openSync(path, flags, mode);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || !makes) throw error;
    makeFolder(dirname(path));
    return openSync(path, flags, mode);
  }
}

function openStandardStream(fd: 1 | 2): LogDevice {
  const stat = fstatSync(fd);
  if (stat.isFile()) return new FileDevice(fd, false, stat);
  if (!stat.isSocket()) {
    try {
      // A separate file description: making the shared one non-blocking would affect other writers.
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;
      return new PipeDevice(openSync(`/proc/self/fd/${fd}`, flags));
    } catch {
      // No /proc, or a pipe that belongs to another user.
      if (!stat.isFIFO()) return new StreamDevice(fd === 1 ? process.stdout : process.stderr);
    }
  }
  return socketDevice(fd);
}

/** An event loop can use a descriptor once: all logs of a thread share it. */
const socketDevices = new Map<number, StreamDevice>();

function socketDevice(fd: number): LogDevice {
  const known = socketDevices.get(fd);
  if (known !== undefined && known.failure === '') return known;
  const device = new StreamDevice(socketOn(fd));
  socketDevices.set(fd, device);
  return device;
}

function socketOn(fd: number): Socket {
  const socket = new Socket({ fd, readable: false, writable: true });
  // Destroying it would close descriptor 1 or 2, and the next file opened would get that number.
  socket._destroy = (error, callback) => callback(error);
  return socket;
}

/** Regular files: the disk may be slow, so a thread of the pool writes. */
class FileDevice implements LogDevice {
  readonly isFile = true;
  failure = '';
  readonly #fd: number;
  readonly #owned: boolean;
  readonly #identity: Stats;

  constructor(fd: number, owned: boolean, identity: Stats) {
    this.#fd = fd;
    this.#owned = owned;
    this.#identity = identity;
  }

  write(bytes: Buffer, offset: number): Promise<number> {
    return new Promise((resolve) => {
      writeFile(this.#fd, bytes, offset, bytes.length - offset, null, (error, written) => {
        this.failure = error === null ? '' : error.message;
        resolve(error === null ? written : -1);
      });
    });
  }

  hasMoved(path: string): Promise<boolean> {
    if (!this.#owned) return Promise.resolve(false);
    return new Promise((resolve) => {
      statFile(path, (error, { ino, dev }: Partial<Stats> = {}) => {
        if (error !== null) resolve(error.code === 'ENOENT');
        else resolve(ino !== this.#identity.ino || dev !== this.#identity.dev);
      });
    });
  }

  writeNow(bytes: Buffer): boolean {
    try {
      return writeSync(this.#fd, bytes) === bytes.length;
    } catch {
      return false;
    }
  }

  close(): void {
    if (this.#owned) closeSync(this.#fd);
  }
}

/** Maximum size of an atomic write to a pipe, so that lines of several workers never mix. */
const atomicSize = 4096;
const lineFeed = 10;

/** Pipes, terminals and other devices, opened non-blocking: a write accepts what fits and returns. */
class PipeDevice implements LogDevice {
  readonly isFile = false;
  failure = '';
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(bytes: Buffer, offset: number): Promise<number> {
    return Promise.resolve(this.#write(bytes, offset));
  }

  writeNow(bytes: Buffer): boolean {
    return this.#write(bytes, 0) === bytes.length;
  }

  hasMoved(): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #write(bytes: Buffer, offset: number): number {
    let position = offset;
    try {
      while (position < bytes.length) {
        position += writeSync(this.#fd, bytes, position, pieceLength(bytes, position));
      }
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN' && position === offset) {
        this.failure = error instanceof Error ? error.message : String(error);
        return -1;
      }
    }
    return position - offset;
  }
}

/** As many whole lines as fit in one atomic write, or one line that is longer. */
function pieceLength(bytes: Buffer, start: number): number {
  if (bytes.length - start <= atomicSize) return bytes.length - start;
  const end = bytes.lastIndexOf(lineFeed, start + atomicSize - 1);
  if (end >= start) return end + 1 - start;
  const next = bytes.indexOf(lineFeed, start);
  return (next < 0 ? bytes.length : next + 1) - start;
}

/** Sockets (the standard output of services): a write resolves when the peer has received it. */
class StreamDevice implements LogDevice {
  readonly isFile = false;
  failure = '';
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error) => {
      this.failure = error.message || 'the stream is broken';
    });
  }

  write(bytes: Buffer, offset: number): Promise<number> {
    if (this.failure !== '') return Promise.resolve(-1);
    return new Promise((resolve) => {
      this.#stream.write(bytes.subarray(offset), (error) => resolve(error ? -1 : bytes.length - offset));
    });
  }

  writeNow(bytes: Buffer): boolean {
    if (this.failure !== '') return false;
    this.#stream.write(bytes);
    return true;
  }

  hasMoved(): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): void {
    // The standard streams belong to the process and stay open.
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
