/** A block of the course, in the order of the page. */
export type CourseBlock =
  /** Commands, a line each. `running`: it runs until a later step ends it. `needs`: a command of the gateway. */
  | {
      readonly kind: 'commands';
      readonly line: number;
      readonly lines: readonly string[];
      readonly running: boolean;
      readonly needs: string | null;
    }
  /** What the commands before it print, among other lines; in this order. */
  | { readonly kind: 'output'; readonly line: number; readonly lines: readonly string[] }
  /** Text for a file: below the line that contains `below`, or at its end. */
  | {
      readonly kind: 'file';
      readonly line: number;
      readonly file: string;
      readonly below: string | null;
      readonly text: string;
    };

/** The fenced blocks of the numbered steps of a page: `sh`, `text`, and `ts` or `json` with the name of a file. */
export function readCourse(page: string): readonly CourseBlock[] {
  const end = page.indexOf('\n## Phases');
  const course = page.slice(0, end);
  return [...course.matchAll(/^```(\w+)(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = '', 2: info = '', 3: text = '', index }) => {
      const line = course.slice(0, index).split('\n').length;
      const lines = text.split('\n').filter((one) => one.trim() !== '');
      const words = info.trim();
      if (language === 'text') return { kind: 'output', line, lines };
      if (language === 'sh') {
        const [, needs = null] = /\b(?:needs|running) (\w+)/.exec(words) ?? [];
        return { kind: 'commands', line, lines, running: words.startsWith('running'), needs };
      }
      const [, file = '', below = null] = /^(\S+)(?: (.+))?$/.exec(words) ?? [];
      return { kind: 'file', line, file, below, text };
    },
  );
}
