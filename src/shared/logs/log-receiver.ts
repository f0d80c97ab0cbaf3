/** Receives the lines of a log, from the least severe level that is written on. What it throws is dropped. */
export type LogReceiver = (
  level: 'debug' | 'info' | 'notice' | 'warn' | 'error' | 'crit' | 'alert' | 'emerg',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;
