/** One line of a plot. */
export interface PlotLine {
  readonly label: string;
  /** A token of styles/tokens.css: `--accent`. */
  readonly colour: string;
  /** Lines differ by more than their colour. */
  readonly style: 'area' | 'solid' | 'dashed' | 'dotted';
}

export interface PlotValues {
  /** Seconds since the epoch, in equal steps. */
  readonly time: number[];
  /** For each line as many values; null: not known. The arrays may be changed in place. */
  readonly values: readonly (number | null)[][];
  /** Changes with the values. */
  readonly version: number | string;
  /** Seconds between two values. */
  readonly step: number;
}

const formats = {
  second: new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }),
  minute: new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }),
  hour: new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' }),
  // The days of analytics are those of UTC.
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
};

/** `time`: seconds since the epoch. `step`: how far times are from each other, seconds. */
export function timeText(time: number, step: number): string {
  const format =
    step < 60 ? formats.second : step < 3_600 ? formats.minute : step < 86_400 ? formats.hour : formats.day;
  return format.format(time * 1000);
}
