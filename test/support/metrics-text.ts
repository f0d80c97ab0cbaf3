/** One sample of a metrics page. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricsPage {
  readonly samples: readonly MetricSample[];
  readonly types: ReadonlyMap<string, string>;
  readonly help: ReadonlyMap<string, string>;
  /** Values of the samples with this name and (at least) these labels. */
  values(name: string, labels?: Readonly<Record<string, string>>): readonly number[];
  /** The only sample with this name and these labels; throws otherwise. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{([^\n]*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gy;

/** Reads text format 0.0.4 and OpenMetrics strictly: a line that is neither comment nor sample is an error. */
export function parseMetrics(text: string): MetricsPage {
  const samples: MetricSample[] = [];
  const types = new Map<string, string>();
  const help = new Map<string, string>();
  if (!text.endsWith('\n')) throw new Error('the page does not end with a line feed');
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment;
      const known = kind === 'TYPE' ? types : help;
      if (known.has(name)) throw new Error(`${kind} of ${name} is there twice`);
      known.set(name, rest);
    } else if (line !== '# EOF' && !line.startsWith('# UNIT ')) samples.push(parseSample(line));
  }
  const keys = new Set(samples.map(({ name, labels }) => JSON.stringify([name, labels])));
  if (keys.size < samples.length) throw new Error(`${samples.length - keys.size} samples are there twice`);
  const values = (name: string, labels: Readonly<Record<string, string>> = {}): readonly number[] =>
    samples
      .filter(
        (sample) => sample.name === name && Object.entries(labels).every(([key, want]) => sample.labels[key] === want),
      )
      .map(({ value }) => value);
  return {
    samples,
    types,
    help,
    values,
    value(name, labels) {
      const found = values(name, labels);
      if (found.length !== 1) throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels ?? {})}`);
      return found[0] ?? 0;
    },
  };
}

function parseSample(line: string): MetricSample {
  const [, name = '', set = '', value = ''] = sampleLine.exec(line) ?? [];
  if (name === '') throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < set.length) {
    const match = label.exec(set);
    if (match === null) throw new Error(`no labels: ${line}`);
    const [, key = '', escaped = ''] = match;
    labels[key] = escaped.replace(/\\([\\"n])/g, (_, found: string) => (found === 'n' ? '\n' : found));
  }
  return { name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) };
}
