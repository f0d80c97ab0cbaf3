import type { RecordingOptions } from '../../shared/traffic/traffic-record.ts';
import type { DataPlane } from '../request/data-plane.ts';
import type { TrafficRecorder, TrafficRecorderParts } from '../traffic/traffic-recorder.ts';

export interface TrafficSwitchOptions extends Pick<TrafficRecorderParts, 'zone' | 'log' | 'post'> {
  /** Resolves when the worker listens; to null when it cannot. */
  readonly plane: () => Promise<DataPlane | null>;
}

/** Switches the recorder of traffic on and off. Its code is loaded when it is first needed. */
export class TrafficSwitch {
  readonly #options: TrafficSwitchOptions;
  #recorder: TrafficRecorder | null = null;
  /** Counts the changes: a later one replaces one that still waits. */
  #serial = 0;

  constructor(options: TrafficSwitchOptions) {
    this.#options = options;
  }

  async set(recording: RecordingOptions | null): Promise<void> {
    const serial = ++this.#serial;
    const { zone, log, post, plane: listening } = this.#options;
    const plane = await listening();
    const code = recording === null ? null : await import('../traffic/traffic-recorder.ts');
    if (plane === null || serial !== this.#serial) return;
    const before = this.#recorder;
    this.#recorder =
      code === null || recording === null ? null : new code.TrafficRecorder({ ...recording, zone, log, post });
    plane.record(this.#recorder);
    before?.close();
  }

  taken(characters: number): void {
    this.#recorder?.taken(characters);
  }

  /** The worker ends. */
  close(): void {
    this.#serial++;
    this.#recorder?.close();
  }
}
