/** A process under measurement. */
export interface Subject {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  /** The process and its children. */
  pids(): readonly number[];
  stop(): Promise<void>;
}
