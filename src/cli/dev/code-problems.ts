import { dirname, sep } from 'node:path';
import type { NodeDevelopment } from '../../boot/development/node-development.ts';
import { type CodeFailure, type CodeProblem, problemAt } from '../../shared/development/code-problem.ts';
import type { PluginProblem } from '../../shared/plugin-loader/trial/trial.ts';

/** A problem of code that cannot be loaded, in the form in which it is shown. `root`: the working directory. */
export function loadProblemOf(
  failure: CodeFailure,
  { message, file, line, column }: PluginProblem,
  root: string,
): CodeProblem {
  const place = file === null || line === null || column === null ? null : { file, line, column };
  // The person has just named the plugin, and the example has one instance of it.
  return problemAt(
    failure,
    message
      .replace(/^plugins: '[^']*' cannot be loaded: /, '')
      .replace(/^plugin '[^']*' cannot set up instance [0-9a-f-]+: /, 'setup failed: '),
    place,
    root,
  );
}

/** The plugins that a problem in this file concerns: those of its folder, or all. */
export function concerned(plugins: ReturnType<NodeDevelopment['plugins']>, file: string | null): readonly string[] {
  const inFolder = plugins.filter((plugin) => file?.startsWith(dirname(plugin.file) + sep) === true);
  return (inFolder.length > 0 ? inFolder : plugins).map(({ name }) => name);
}
